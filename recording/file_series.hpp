// Frames into one file after the other: names, limits, room on the disk, and how many files are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "formats/frame_writer.hpp"

namespace echoform {

/// make_frame_writer(), or what a test puts in its place.
using MakeFrameWriter =
    std::function<std::unique_ptr<FrameWriter>(const std::filesystem::path&, const Acquisition&, const FrameWriterOptions&)>;

[[nodiscard]] inline std::unique_ptr<FrameWriter> make_file(const std::filesystem::path& path, const Acquisition& acquisition,
                                                            const FrameWriterOptions& options) {
  return make_frame_writer(path, acquisition, options);
}

struct FileSeriesOptions {
  std::filesystem::path folder;
  std::uint64_t frames_per_file = 0;  ///< 0: no limit; likewise the next two
  std::uint64_t bytes_per_file = 0;   ///< of samples, as they came; a file has at least one frame
  std::size_t keep_files = 0;         ///< the oldest that this series wrote are deleted
  std::uint64_t min_free_bytes = 0;   ///< left on the disk after each frame
};

/// Throws InputError, naming `where`, unless `pattern` is a file's name (no folder, no control characters) with a known extension
/// in which only {name} and {time} stand in braces.
void check_file_pattern(const std::string& pattern, const std::string& where);
/// The name that a pattern stands for. `time` is written in UTC: 20260314T092653Z.
[[nodiscard]] std::string file_name_of(const std::string& pattern, const std::string& name, WallTime time);

/// The longest name that a pattern comes to: with the number that tells it from those of the same name.
[[nodiscard]] std::string longest_file_name(const std::string& pattern, const std::string& name);
/// `name` in the folder, or name-2, name-3 ...: the first that is not there. RuntimeFault where too many are. Any thread.
[[nodiscard]] std::filesystem::path free_name(const std::filesystem::path& folder, const std::filesystem::path& name);
/// Throws RuntimeFault, naming the folder, unless the disk has room for `bytes` and what shall stay free. Any thread.
void require_room(const FileSeriesOptions& options, std::uint64_t bytes);

/// One thread at a time.
class FileSeries {
 public:
  explicit FileSeries(FileSeriesOptions options, MakeFrameWriter make = make_file);

  /// What the next file is made of; ends the one that is open.
  struct Contents {
    Acquisition acquisition;
    Material material;
    std::string pattern;
    std::string name;
    std::function<Pose(EncoderCount)> pose{};  ///< as FrameWriterOptions has it
    std::string first_name{};                  ///< of the first file, in the place of the pattern; empty: the pattern's
  };
  void begin(std::shared_ptr<const Contents> contents);

  /// Appends the frame, in a new file where there is none or its limits are reached; closes a file that its format says is full.
  /// `now` is the time that a new file states. Throws RuntimeFault or InputError, in one line; no file is open then, and the
  /// frames before are in theirs.
  void write(std::span<const std::byte> frame, const FrameStamp& stamp, WallTime now);
  /// Forces the open file to the disk itself. Throws RuntimeFault.
  void flush();
  /// Ends the open file. Throws RuntimeFault.
  void close();

  [[nodiscard]] bool open() const noexcept { return file_ != nullptr; }
  /// The open file, or the last one; empty before the first.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void open_next(const FrameStamp& stamp, WallTime now);
  void begun();
  void delete_oldest();

  const FileSeriesOptions options_;
  const MakeFrameWriter make_;
  std::shared_ptr<const Contents> contents_;
  std::unique_ptr<FrameWriter> file_;
  std::string first_name_;           // as contents_ has it, until that file has begun
  std::filesystem::path next_path_;  // of the file that waits for its first frame
  std::filesystem::path path_;
  std::uint64_t most_frames_ = 0;              // that its format holds
  std::deque<std::filesystem::path> written_;  // oldest first; only where some are to be deleted
};

}  // namespace echoform
