// A file that is read: opened once, so that the file that was checked is the file that is read, whatever becomes of its name
// meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace echoform {

/// Copies share the open file.
class InputFile {
 public:
  /// Throws InputError unless the path leads to a regular file that may be read and is not empty; `expected` is for its line.
  InputFile(const std::filesystem::path& path, std::string_view expected = "a recording");  // NOLINT(google-explicit-constructor)

  /// As the user named it, for messages.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::string name() const { return path_.string(); }
  [[nodiscard]] int descriptor() const noexcept { return file_->get(); }
  /// A path of the same file, for libraries that open by path. It is valid while a copy of this object lives.
  [[nodiscard]] std::filesystem::path same_file() const { return path_of_descriptor(descriptor()); }
  /// Bytes, as it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Fills `bytes` from `offset` on; returns how many there were. Throws InputError where the system cannot read them.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const FileDescriptor> file_;
  std::uint64_t size_ = 0;
};

}  // namespace echoform
