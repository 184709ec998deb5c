// Recordings out as BRAIN `exp_data`, the MATLAB structure of formats/brain_mat.cpp. It holds one frame.
#pragma once

#include <filesystem>
#include <memory>

#include "formats/frame_writer.hpp"

namespace echoform {

/// Throws InputError, naming `where`, unless a version 5 .mat file can hold a frame of `acquisition`: no half_summed matrix and
/// no events in which nobody transmits, for which there is no word, and less than 2 GiB of samples as float64.
void check_brain_mat_holds(const Acquisition& acquisition, const std::string& where);

/// Samples are float64 amplitudes: float32 exactly, counts times sample_scale, rounded to 53 bits once. The file has no word for
/// dead elements, bandwidth, sequence, times and the shear velocity. It appears whole, with close().
class BrainMatWriter final : public FrameWriter {
 public:
  BrainMatWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~BrainMatWriter() override;

  void flush() override {}
  void close() override;
  [[nodiscard]] std::uint64_t frames() const noexcept override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  /// InputError for a second frame.
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;

  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace echoform
