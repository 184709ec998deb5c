// Recordings out as IPASC HDF5, the layout of formats/ipasc_fields.hpp.
#pragma once

#include <filesystem>
#include <memory>

#include "formats/frame_writer.hpp"

namespace echoform {

/// Throws InputError, naming `where`, unless an IPASC file can hold frames of `acquisition`: passive events alone, samples from
/// the pulse of light on, the same detectors for each wavelength, rectangles that the directions they face tell apart, and less
/// than 4 GiB a frame, what an HDF5 chunk may have.
void check_ipasc_holds(const Acquisition& acquisition, const std::string& where);

/// Every detector at every position is a detector of the file, in the order of positions and elements; events of the same light
/// at the same position are wavelengths of their own, and frames are measurements. Counts of scale 1 are int16, all else is
/// float32. Beyond the format, which leaves names to its users: echoform_dead_detectors, where some are dead. It has no word for
/// the probe's frequencies and for counts of the encoder. The file appears whole, with close().
class IpascWriter final : public FrameWriter {
 public:
  IpascWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~IpascWriter() override;
  IpascWriter(const IpascWriter&) = delete;
  IpascWriter& operator=(const IpascWriter&) = delete;

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
