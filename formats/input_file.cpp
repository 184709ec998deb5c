#include "formats/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptors.hpp"
#include "base/errors.hpp"

namespace echoform {

InputFile::InputFile(const std::filesystem::path& path, std::string_view expected) : path_(path) {
  const auto refuse = [&](const char* found) { throw InputError(path_.string(), found, expected); };
  // Opening or reading pipes and devices would block or never end.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) refuse("no such file");
    if (error == EACCES) throw InputError(path_.string(), "a file that may not be read", "read permission");
    if (error == EMFILE || error == ENFILE) throw_system_fault(error, path_.string() + ": " + std::strerror(error));
    // For example a socket.
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) refuse("something that is not a regular file");
    refuse(std::strerror(error));
  }
  if (::fstat(file.get(), &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("a directory");
  if (!S_ISREG(status.st_mode)) refuse("something that is not a regular file");
  if (status.st_size == 0) refuse("an empty file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  file_ = std::make_shared<const FileDescriptor>(std::move(file));
}

std::size_t InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(descriptor(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(path_.string(), std::strerror(errno), "a file that can be read");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace echoform
