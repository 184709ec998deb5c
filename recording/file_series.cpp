#include "recording/file_series.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr int most_of_one_name = 100'000;

}  // namespace

std::filesystem::path free_name(const std::filesystem::path& folder, const std::filesystem::path& name) {
  for (int number = 1; number < most_of_one_name; ++number) {
    std::filesystem::path path = folder / name;
    if (number > 1) path.replace_filename(fmt::format("{}-{}{}", name.stem().string(), number, name.extension().string()));
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return path;
  }
  throw RuntimeFault(fmt::format("{}: {} files of this name are there already", (folder / name).string(), most_of_one_name));
}

void check_file_pattern(const std::string& pattern, const std::string& where) {
  if (pattern.find('/') != std::string::npos) throw InputError(where, fmt::format("\"{}\"", pattern), "a name without a folder");
  // Terminals interpret control characters, and lists of files have one name a line.
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(pattern.begin(), pattern.end(), control)) {
    throw InputError(where, fmt::format("\"{}\"", pattern), "a name without control characters");
  }
  for (std::size_t at = 0; (at = pattern.find_first_of("{}", at)) != std::string::npos;) {
    const std::string_view rest = std::string_view(pattern).substr(at);
    if (!rest.starts_with("{name}") && !rest.starts_with("{time}"))
      throw InputError(where, fmt::format("\"{}\"", pattern), "{name} and {time} alone in braces");
    at += 6;
  }
  check_frame_file_name(pattern, where);
}

std::string file_name_of(const std::string& pattern, const std::string& name, WallTime time) {
  const auto seconds = static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view rest = std::string_view(pattern).substr(at);
    if (rest.starts_with("{name}")) {
      // A stream's name may hold characters that a file's may not.
      for (const char c : name) result += c == '/' ? '-' : c;
      at += 6;
    } else if (rest.starts_with("{time}")) {
      result += fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(seconds));
      at += 6;
    } else {
      result += pattern[at++];
    }
  }
  return result;
}

std::string longest_file_name(const std::string& pattern, const std::string& name) {
  std::filesystem::path longest = file_name_of(pattern, name, WallTime{0});
  const std::string extension = longest.extension().string();
  return longest.replace_extension().string() + fmt::format("-{}", most_of_one_name) + extension;
}

void require_room(const FileSeriesOptions& options, std::uint64_t bytes) {
  struct statvfs disk {};
  if (::statvfs(options.folder.c_str(), &disk) != 0)
    throw RuntimeFault(fmt::format("{}: {}", options.folder.string(), std::strerror(errno)));
  const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (left >= bytes && left - bytes >= options.min_free_bytes) return;
  throw RuntimeFault(fmt::format("{}: {:.1f} MB are left on the disk, of which {:.1f} MB shall stay free",
                                 options.folder.string(), 1e-6 * static_cast<double>(left),
                                 1e-6 * static_cast<double>(options.min_free_bytes)));
}

FileSeries::FileSeries(FileSeriesOptions options, MakeFrameWriter make) : options_(std::move(options)), make_(std::move(make)) {}

void FileSeries::begin(std::shared_ptr<const Contents> contents) {
  close();
  contents_ = std::move(contents);
  first_name_ = contents_->first_name;
}

void FileSeries::write(std::span<const std::byte> frame, const FrameStamp& stamp, WallTime now) {
  try {
    require_room(options_, frame.size());
    if (file_) {
      const std::uint64_t frames = file_->frames();
      const bool full = (options_.frames_per_file > 0 && frames >= options_.frames_per_file) ||
                        (options_.bytes_per_file > 0 && (frames + 1) * frame.size() > options_.bytes_per_file);
      if (full) close();
    }
    const bool next = !file_;
    if (next) open_next(stamp, now);
    file_->append(frame, stamp);
    if (next) begun();
    // A file that takes no further frame is finished now. The next frame, which would finish it otherwise, may never come.
    if (most_frames_ > 0 && file_->frames() >= most_frames_) close();
  } catch (...) {
    file_.reset();
    throw;
  }
}

void FileSeries::open_next(const FrameStamp& stamp, WallTime now) {
  const WallTime time = stamp.acquisition_time.count() > 0 ? stamp.acquisition_time : now;
  const std::string name = first_name_.empty() ? file_name_of(contents_->pattern, contents_->name, time) : first_name_;
  const auto path = free_name(options_.folder, name);
  file_ = make_(path, contents_->acquisition,
                FrameWriterOptions{.material = contents_->material, .recorded = time, .pose = contents_->pose});
  next_path_ = path;
}

/// Registers the file once it has a frame. A file without a frame does not count.
void FileSeries::begun() {
  path_ = next_path_;
  first_name_.clear();
  most_frames_ = most_frames_of_file(path_);
  spdlog::info("recording to {}", path_.string());
  if (options_.keep_files == 0) return;
  written_.push_back(path_);
  while (written_.size() > options_.keep_files) delete_oldest();
}

void FileSeries::delete_oldest() {
  std::error_code error;
  std::filesystem::remove(written_.front(), error);
  if (error) spdlog::warn("{}: cannot be deleted: {}", written_.front().string(), error.message());
  written_.pop_front();
}

void FileSeries::flush() {
  if (file_) file_->flush();
}

void FileSeries::close() {
  if (!file_) return;
  const auto file = std::exchange(file_, nullptr);
  file->close();
  spdlog::info("recorded {} frames in {}", file->frames(), path_.string());
}

}  // namespace echoform
