// Raw frames into files: one interface over every format that recordings are written in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_stamp.hpp"
#include "base/clock.hpp"

namespace echoform {

struct FrameWriterOptions {
  Material material{};   ///< velocities that the file states; 0 where unknown
  WallTime recorded{0};  ///< time of the first frame; 0: not stated
  /// Where the probe was when the encoder counted so many, of a scan; none: it stays where the acquisition has it. Formats
  /// that cannot express it omit it.
  std::function<Pose(EncoderCount)> pose{};
  /// The file has its name once close() has ended it, and none else. Otherwise it has it from the first frame on where the format
  /// can be read while it grows, and what was written when the writer goes away is kept.
  bool whole = false;
};

/// One file that grows by frames of one acquisition. Without a frame no file is made. One thread at a time may use it.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  /// Adds a frame: acquisition.frame_bytes() in its encoding, rows as its layout has them. Throws InputError for another
  /// size, and where something has come to be in the file's place; RuntimeFault if the disk is full or fails. The file then
  /// ends with the previous frame; but formats that are completed at their end have no file if the disk failed in the middle
  /// of this frame.
  void append(std::span<const std::byte> frame, const FrameStamp& stamp = {}) { write(frame, stamp); }
  /// Synchronises appended frames to the disk. Throws RuntimeFault if that fails.
  virtual void flush() = 0;
  /// Ends the file. Throws RuntimeFault if that fails. May be called again.
  virtual void close() = 0;

  [[nodiscard]] virtual std::uint64_t frames() const noexcept = 0;
  /// Bytes of samples, as stored.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;

 private:
  virtual void write(std::span<const std::byte> frame, const FrameStamp& stamp) = 0;
};

/// Throws InputError, naming `where`, if no format is written under the extension of `path`.
void check_frame_file_name(const std::filesystem::path& path, const std::string& where);
/// Throws InputError where files like `path` state velocities that `material` lacks.
void check_frame_file_states(const std::filesystem::path& path, const Material& material);
/// How many frames a file of this name holds; 0: any number.
[[nodiscard]] std::uint64_t most_frames_of_file(const std::filesystem::path& path);
/// What files like `path` make of samples of `acquisition`: "float64 amplitudes", or "they are" where they stay so.
[[nodiscard]] std::string_view samples_of_file(const std::filesystem::path& path, const Acquisition& acquisition);
/// Throws InputError, naming `where`, if the format of `path` cannot hold frames of `acquisition`.
void check_frame_file_holds(const std::filesystem::path& path, const Acquisition& acquisition, const std::string& where);
/// Makes a new file; its extension chooses the format. Throws InputError as the two checks, if something is there already or the
/// place may not be written to; RuntimeFault if the disk is full.
[[nodiscard]] std::unique_ptr<FrameWriter> make_frame_writer(const std::filesystem::path& path, const Acquisition& acquisition,
                                                             const FrameWriterOptions& options = {});

/// Extensions that recordings are written under, lower case with the dot.
[[nodiscard]] std::vector<std::string> frame_file_extensions();

}  // namespace echoform
