// Frames into a capture, as one sender on one connection would have sent them.
#pragma once

#include <memory>

#include "acquisition/frame_layout.hpp"
#include "formats/capture_file.hpp"
#include "formats/frame_writer.hpp"

namespace echoform {

/// Throws InputError, naming `where`, if a Hello cannot say the acquisition (elements of different sizes), or only one
/// that is longer than readers take (many events with many receivers).
void check_capture_holds(const Acquisition& acquisition, const std::string& where);

/// Samples are kept bit by bit, and so are sequence and acquisition time. The records' times follow the frames' acquisition times
/// where those are known and go on, else they stand still.
class CaptureFrameWriter final : public FrameWriter {
 public:
  CaptureFrameWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~CaptureFrameWriter() override;

  void flush() override { file_.flush(); }
  void close() override;
  [[nodiscard]] std::uint64_t frames() const noexcept override { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return frames_ * layout_.frame_bytes(); }

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;

  const FrameLayout layout_;
  const WallTime began_;
  const bool whole_;
  CaptureWriter file_;
  std::uint64_t frames_ = 0;
  std::chrono::nanoseconds time_{0};
  bool closed_ = false;
};

}  // namespace echoform
