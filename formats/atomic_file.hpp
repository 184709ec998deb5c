// Files that appear whole or not at all: written aside in the same directory, then renamed.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

#include "base/function_ref.hpp"

namespace echoform {

/// Throws InputError if the directory of `path` is not there or may not be written to, `path` is a directory, or its name is
/// longer than the disk takes, with room for what it is called while it is written (223 of 255 bytes, as a rule).
void check_output_place(const std::filesystem::path& path);
/// Throws InputError, naming it as `name`, where something is at `path` already: recordings are not overwritten.
void require_absent(const std::filesystem::path& path, const std::string& name);
/// Writes some bytes into `directory`, and removes them. Throws RuntimeFault, naming it, where that fails: a disk or a quota is
/// full.
void check_disk_takes(const std::filesystem::path& directory);

class AtomicFile {
 public:
  /// Reserves a name beside `path`, or beside what it leads to where it is a symbolic link: that is written, the link stays.
  /// Throws as check_output_place.
  explicit AtomicFile(std::filesystem::path path);
  /// Removes what was written unless committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Where to write meanwhile.
  [[nodiscard]] const std::filesystem::path& aside() const noexcept { return aside_; }
  /// Moves the file to its place, replacing what was there. Throws RuntimeFault if that fails.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path aside_;
  bool committed_ = false;
};

/// Writes `bytes` to `path`, whole or not at all. Throws InputError as check_output_place, RuntimeFault if writing fails.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
/// The same of what `put` puts into the stream.
void write_stream(const std::filesystem::path& path, FunctionRef<void(std::ostream&)> put);

}  // namespace echoform
