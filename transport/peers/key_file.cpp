#include "transport/peers/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.hpp"

namespace echoform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t file_limit = std::size_t{1} << 20;

/// Closes its descriptor.
struct File {
  int descriptor;
  explicit File(int opened) : descriptor(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

std::string place_of(std::string_view where, const fs::path& file) {
  return where.empty() ? file.string() : fmt::format("{}: {}", where, file.string());
}

std::string read_key_file(const fs::path& file, std::string_view where, bool secret) {
  const File open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat state {};
  if (open.descriptor < 0 || ::fstat(open.descriptor, &state) != 0) {
    throw InputError(place_of(where, file), std::strerror(errno), "a key file");
  }
  // Asked of the file that was opened, not of its name.
  if (!S_ISREG(state.st_mode)) throw InputError(place_of(where, file), "no plain file", "a key file");
  if (secret && (state.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    throw InputError(place_of(where, file), fmt::format("permissions {:03o}", state.st_mode & 0777U),
                     "a secret key that others have no access to (chmod 600)");
  }
  if (static_cast<std::size_t>(state.st_size) > file_limit) {
    throw InputError(place_of(where, file), fmt::format("{} bytes", state.st_size), "a key file, which is smaller");
  }
  std::string text(static_cast<std::size_t>(state.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(open.descriptor, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(place_of(where, file), std::strerror(errno), "a key file");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace echoform
