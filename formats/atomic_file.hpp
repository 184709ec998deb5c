// Files that appear whole or not at all: written without a name, or under one that nobody can guess, and then put in their place.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/function_ref.hpp"
#include "base/temporary_path.hpp"

namespace echoform {

/// Throws InputError if the directory of `path` is not there or may not be written to, `path` is a directory, or its name is
/// longer than the disk takes, including space for its temporary name while it is written (223 of 255 bytes, as a rule).
void check_output_place(const std::filesystem::path& path);
/// Throws InputError, naming it as `name`, where something is at `path` already: recordings are not overwritten.
void require_absent(const std::filesystem::path& path, const std::string& name);
/// Throws InputError, naming `option`, where `output` is `input` by whatever name: what is read is not overwritten.
void require_other_file(const std::filesystem::path& output, const std::filesystem::path& input, std::string_view option);
/// Writes some bytes into `directory`, and removes them. Throws RuntimeFault, naming it, where that fails: a disk or a quota is
/// full.
void check_disk_takes(const std::filesystem::path& directory);

/// What becomes of a file that is there already.
enum class IfThere : unsigned char { replace, refuse };

class AtomicFile {
 public:
  /// Makes an empty file for `path`, or for what that leads to where it is a symbolic link: that is written, the link stays. The
  /// file has no name until commit() (O_TMPFILE), so that nothing is left of it even if the process is killed; where the file
  /// system has no such files, a random one in the same directory. What processes that were killed have left under such names
  /// goes when another one first writes there. Throws as check_output_place; InputError where the link is another user's in a
  /// directory that everybody may write to (as the kernel's fs.protected_symlinks has it); RuntimeFault where the system makes no
  /// file.
  explicit AtomicFile(std::filesystem::path path, IfThere if_there = IfThere::replace);
  /// Removes what was written unless committed, as a signal does that ends the process before.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Open for reading and writing, also after commit().
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// The same file by a path, for libraries that ask for one: valid in this process, as long as this lives.
  [[nodiscard]] std::filesystem::path aside() const { return path_of_descriptor(file_.get()); }
  /// Puts the file in its place, at once. Throws RuntimeFault if that fails; InputError where it would replace another and shall
  /// not. May be called again.
  void commit();
  [[nodiscard]] bool committed() const noexcept { return committed_; }

 private:
  [[nodiscard]] bool make_unnamed();
  [[nodiscard]] bool make_named();
  [[nodiscard]] bool put_in_place();
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::string given_;  // for messages
  IfThere if_there_;
  FileDescriptor directory_;
  FileDescriptor file_;
  std::string aside_name_;                  // empty where it has none
  std::optional<TemporaryPath> temporary_;  // of that name, until the file is in its place
  bool committed_ = false;
};

/// Writes `bytes` to `path`, whole or not at all. Throws as AtomicFile, and RuntimeFault if writing fails.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
/// The same of what `put` puts into the stream.
void write_stream(const std::filesystem::path& path, FunctionRef<void(std::ostream&)> put);

}  // namespace echoform
