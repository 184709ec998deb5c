// Files of the system by their descriptors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace echoform {

/// Owner of a descriptor, which it closes; false if it has none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() { static_cast<void>(close()); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// Returns false, with errno, if the system reports that closing failed. May be called again.
  bool close() noexcept;

 private:
  int descriptor_ = -1;
};

/// Another descriptor of the same open file; none, with errno, where the system has none left.
[[nodiscard]] FileDescriptor duplicate(int descriptor) noexcept;

/// Writes all bytes at the descriptor's position. Returns false, with errno, if not all were written.
[[nodiscard]] bool write_all(int descriptor, std::span<const std::byte> bytes) noexcept;

/// A path to the file that is open as this descriptor, whatever has become of its name: for libraries that ask for a path.
/// Valid in this process while the descriptor is open.
[[nodiscard]] std::filesystem::path path_of_descriptor(int descriptor);

}  // namespace echoform
