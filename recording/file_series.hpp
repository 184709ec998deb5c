// Writes frames into one file after the other: names, limits, space on the disk, and how many files are kept.
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
  std::uint64_t bytes_per_file = 0;   ///< bytes of samples, as received; a file has at least one frame
  std::size_t keep_files = 0;         ///< files kept: older ones that this series wrote are deleted
  std::uint64_t min_free_bytes = 0;   ///< free space that remains on the disk after each frame
};

/// Throws InputError, naming `where`, unless `pattern` is a file's name (no folder, no control characters) with a known extension
/// in which only {name} and {time} stand in braces.
void check_file_pattern(const std::string& pattern, const std::string& where);
/// The file name that a pattern gives. `time` is written in UTC: 20260314T092653Z.
[[nodiscard]] std::string file_name_of(const std::string& pattern, const std::string& name, WallTime time);

/// The longest name that a pattern can give, including the number that distinguishes it from the same name.
[[nodiscard]] std::string longest_file_name(const std::string& pattern, const std::string& name);
/// The first of `name`, name-2, name-3 ... that does not exist in the folder. Throws RuntimeFault if too many exist. Any
/// thread may call it.
[[nodiscard]] std::filesystem::path free_name(const std::filesystem::path& folder, const std::filesystem::path& name);
/// Throws RuntimeFault, naming the folder, unless the disk has space for `bytes` and for what must stay free. Any thread may
/// call it.
void require_room(const FileSeriesOptions& options, std::uint64_t bytes);

/// Writes the files of a series. One thread at a time may use it.
class FileSeries {
 public:
  explicit FileSeries(FileSeriesOptions options, MakeFrameWriter make = make_file);

  /// The contents of the next file; begin() ends the file that is open.
  struct Contents {
    Acquisition acquisition;
    Material material;
    std::string pattern;
    std::string name;
    std::function<Pose(EncoderCount)> pose{};  ///< as FrameWriterOptions has it
    std::string first_name{};                  ///< of the first file, in the place of the pattern; empty: the pattern's
  };
  void begin(std::shared_ptr<const Contents> contents);

  /// Appends the frame, in a new file if none is open or the limits of the open one are reached. Closes a file that is full
  /// by its format. `now` is the time that a new file states. Throws RuntimeFault or InputError, in one line; no file is
  /// open then, and earlier frames stay in their files.
  void write(std::span<const std::byte> frame, const FrameStamp& stamp, WallTime now);
  /// Synchronises the open file to the disk. Throws RuntimeFault.
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
