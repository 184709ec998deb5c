#include "formats/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/errors.hpp"

namespace echoform {
namespace {

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// What a symbolic link leads to, there or not: renaming onto the link itself would replace it.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int link = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, error)); ++link) {
    if (link == most_links) throw InputError(path.string(), "symbolic links that lead in a circle", "a file to write");
    const auto target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = target.is_absolute() ? target : directory_of(path) / target;
  }
  return path;
}

// What the name of a file that is written aside has more than the file's own at most: two dots, a process, a count and ".part".
constexpr std::size_t aside_bytes = 32;

void check_name_fits(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const long longest_name = ::pathconf(directory.c_str(), _PC_NAME_MAX),
             longest_path = ::pathconf(directory.c_str(), _PC_PATH_MAX);
  const auto check = [&](long longest, std::size_t bytes, std::string_view what) {
    if (longest <= 0 || bytes + aside_bytes <= static_cast<std::size_t>(longest)) return;
    throw InputError(path.string(), fmt::format("a {} of {} bytes", what, bytes),
                     fmt::format("at most {}: {} that the system takes, less {} for its name while it is written",
                                 static_cast<std::size_t>(longest) - aside_bytes, longest, aside_bytes));
  };
  check(longest_name, path.filename().string().size(), "file name");
  check(longest_path, path.string().size() + 1, "path");
}

}  // namespace

void check_output_place(const std::filesystem::path& path) {
  std::error_code error;
  const auto directory = directory_of(path);
  if (!path.has_filename()) throw InputError(path.string(), "no file name", "a file to write");
  if (!std::filesystem::is_directory(directory, error))
    throw InputError(path.string(), fmt::format("no directory {}", directory.string()), "an existing directory");
  if (std::filesystem::is_directory(path, error)) throw InputError(path.string(), "a directory", "a file to write");
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw InputError(path.string(), fmt::format("that {} may not be written to ({})", directory.string(), std::strerror(errno)),
                     "write permission");
  }
  check_name_fits(path, directory);
}

void require_absent(const std::filesystem::path& path, const std::string& name) {
  if (std::error_code error; std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw InputError(name, "a file that is there already", "a new one (recordings are not overwritten)");
}

void check_disk_takes(const std::filesystem::path& directory) {
  constexpr std::array<std::byte, 4096> block{};
  const AtomicFile trial(directory / ".echoform-trial");  // never in its place, and no recording's name
  std::ofstream out(trial.aside(), std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(block.data()), block.size());
  out.close();
  if (!out) throw RuntimeFault(fmt::format("{}: cannot be written: {}", directory.string(), std::strerror(errno)));
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(behind_links(std::move(path))) {
  check_output_place(path_);
  static std::atomic<unsigned> count{0};
  aside_ = directory_of(path_) / fmt::format(".{}.{}-{}.part", path_.filename().string(), ::getpid(), count++);
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  std::error_code error;
  std::filesystem::remove(aside_, error);
}

void AtomicFile::commit() {
  std::error_code error;
  std::filesystem::rename(aside_, path_, error);
  if (error) throw RuntimeFault(fmt::format("{}: cannot be written: {}", path_.string(), error.message()));
  committed_ = true;
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_stream(path, [bytes](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
}

void write_stream(const std::filesystem::path& path, FunctionRef<void(std::ostream&)> put) {
  AtomicFile file(path);
  std::ofstream out(file.aside(), std::ios::binary | std::ios::trunc);
  put(out);
  out.close();
  if (!out) throw RuntimeFault(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  file.commit();
}

}  // namespace echoform
