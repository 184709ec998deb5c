#include "base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/errors.hpp"
#include "base/file_descriptor.hpp"

namespace echoform {
namespace {

/// Throws the error about a file.
class Refusal {
 public:
  Refusal(const std::filesystem::path& path, const TextFileRequest& request) : path_(path), request_(request) {}

  /// `alone` is the text when the path is the place of the error; `of_path` follows the path when a key is the place.
  [[noreturn]] void refuse(const std::string& alone, const std::string& of_path, std::string_view expected = {}) const {
    if (expected.empty()) expected = request_.expected;
    if (request_.key.empty()) throw InputError(path_.string(), alone, expected);
    throw InputError(request_.key, fmt::format("{}, {}", path_.string(), of_path), expected);
  }
  [[noreturn]] void refuse_unreadable(int error) const {
    refuse(fmt::format("a file that cannot be read ({})", std::strerror(error)),
           fmt::format("which cannot be read ({})", std::strerror(error)));
  }
  [[noreturn]] void refuse_size(std::uintmax_t bytes) const {
    refuse(fmt::format("{} bytes", bytes), fmt::format("a file of {} bytes", bytes), request_.size_expected);
  }

 private:
  const std::filesystem::path& path_;
  const TextFileRequest& request_;
};

}  // namespace

std::string read_text_file(const std::filesystem::path& path, const TextFileRequest& request) {
  const Refusal because(path, request);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) because.refuse("no such file", "which does not exist");
    // open() fails for a socket.
    if (error == ENXIO) because.refuse("something that is not a file", "which is no regular file");
    because.refuse_unreadable(error);
  }
  // The state is that of the opened file: its name may mean another file by now.
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) because.refuse_unreadable(errno);
  if (!S_ISREG(state.st_mode)) because.refuse("something that is not a file", "which is no regular file");
  if (request.secret && (state.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    const std::string found = fmt::format("permissions {:03o}", state.st_mode & 0777U);
    because.refuse(found, "with " + found, "a secret key that others have no access to (chmod 600)");
  }
  const auto stated = static_cast<std::uintmax_t>(state.st_size);
  if (stated > request.maximum_bytes) because.refuse_size(stated);
  // System files (/proc) state no size. One byte more than the stated size is requested, because the end has to be seen.
  std::string text;
  std::size_t filled = 0;
  for (;;) {
    constexpr std::size_t piece = 4096;
    text.resize(std::max<std::size_t>(filled + piece, static_cast<std::size_t>(stated) + 1));
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) because.refuse_unreadable(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > request.maximum_bytes) because.refuse_size(filled);
  }
  // Another process is writing the file at this moment; half of a configuration is another configuration.
  if (filled < stated) {
    const std::string found = fmt::format("its end at {} of {} bytes", filled, stated);
    because.refuse(found, found, "a file that does not change while it is read");
  }
  text.resize(filled);
  return text;
}

}  // namespace echoform
