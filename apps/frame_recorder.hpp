// Recording instead of imaging: a pipeline whose engine hands every frame to a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "formats/frame_writer.hpp"
#include "pipeline/pipeline.hpp"

namespace echoform {

struct FrameRecorderOptions {
  std::filesystem::path output;
  Material material{};  ///< stated in the file; 0 where unknown
  /// What moves the probe of an acquisition by its encoder's counts; none: it stays.
  std::function<std::function<Pose(EncoderCount)>(const Acquisition&)> pose{};
  std::optional<std::uint64_t> frames{};  ///< frames after these are not written
  std::function<void()> ended{};          ///< the last frame is written, or one could not be; from the pipeline's thread
};

struct RecordingProgress {
  std::uint64_t frames = 0;    ///< written
  std::uint64_t bytes = 0;     ///< of samples, as stored
  std::uint64_t left_out = 0;  ///< that came after the last of FrameRecorderOptions::frames
  std::string fault{};         ///< why a frame could not be written; empty if none was
};

/// The file appears with the first frame. It holds one acquisition: a sender that announces another is refused, one that comes
/// back with the same goes on where it was. Frames that cannot be written count as failed.
class FrameRecorder {
 public:
  /// Throws InputError if no format is written under the output's extension, if it is there already, or may not be written.
  explicit FrameRecorder(FrameRecorderOptions options);
  FrameRecorder(const FrameRecorder&) = delete;
  FrameRecorder& operator=(const FrameRecorder&) = delete;

  /// The factories for a Pipeline. The recorder must outlive that pipeline.
  [[nodiscard]] SetupFactory setup_factory();
  [[nodiscard]] EngineFactory engine_factory();

  /// One frame, from one thread at a time. False if it could not be written.
  [[nodiscard]] bool write(const Acquisition& acquisition, const FrameSlot& slot) noexcept;
  /// Ends the file. Throws RuntimeFault if that fails.
  void close();
  [[nodiscard]] RecordingProgress progress() const;
  /// Whether the file has all frames that it is to have.
  [[nodiscard]] bool complete() const;

 private:
  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup(const Acquisition& acquisition);

  FrameRecorderOptions options_;
  mutable std::mutex mutex_;
  std::optional<Acquisition> acquisition_;  // of the frames in the file
  std::unique_ptr<FrameWriter> writer_;
  RecordingProgress progress_;
};

}  // namespace echoform
