// Recordings out as channel data of USTB's files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "formats/frame_writer.hpp"

namespace echoform {

/// Throws InputError, naming `where`, unless USTB's channel data can hold frames of `acquisition`: one position of the probe, all
/// elements record every event (of half a matrix both directions of a pair are written, of sums neither), which is a plane,
/// diverging or focused wave, a single element or light, and less than 4 GiB a frame, what an HDF5 chunk may have.
void check_uff_holds(const Acquisition& acquisition, const std::string& where);

/// One object, /channel_data, as float32 [frame, wave, channel, time] in C order. It has no word for which elements of a wave
/// fire, dead elements, wavelengths and energies of light, counts of the encoder, and times and numbers of frames. The file
/// appears whole, with close(). The constructor throws InputError where no velocity is stated, which the format asks for.
class UffWriter final : public FrameWriter {
 public:
  UffWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~UffWriter() override;
  UffWriter(const UffWriter&) = delete;
  UffWriter& operator=(const UffWriter&) = delete;

  void flush() override {}
  void close() override;
  [[nodiscard]] std::uint64_t frames() const noexcept override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;

  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace echoform
