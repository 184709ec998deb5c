#include "tests/formats/full_disk.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <limits>

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> most_bytes{no_limit};

/// How many of `count` bytes find room at `offset`.
std::size_t room(std::uint64_t offset, std::size_t count) {
  const std::uint64_t most = most_bytes;
  return offset >= most ? 0 : std::min<std::uint64_t>(count, most - offset);
}

bool limited(int file) {
  struct stat status {};
  return most_bytes != no_limit && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t put_at(int file, const void* bytes, std::size_t count, off_t offset) {
  if (limited(file)) {
    const std::size_t some = room(static_cast<std::uint64_t>(offset), count);
    if (some == 0 && count > 0) {
      errno = ENOSPC;
      return -1;
    }
    count = some;
  }
  return ::syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t put(int file, const void* bytes, std::size_t count) {
  if (limited(file)) {
    const std::size_t some = room(static_cast<std::uint64_t>(::lseek(file, 0, SEEK_CUR)), count);
    if (some == 0 && count > 0) {
      errno = ENOSPC;
      return -1;
    }
    count = some;
  }
  return ::syscall(SYS_write, file, bytes, count);
}

}  // namespace

// In the place of the C library's, for this program and the libraries that it has loaded.
extern "C" {
ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  return put_at(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void* bytes, std::size_t count, off_t offset) {
  return put_at(file, bytes, count, offset);
}
ssize_t write(int file, const void* bytes, std::size_t count) {
  return put(file, bytes, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (!limited(file)) return ::syscall(SYS_writev, file, parts, count);
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len > 0) return put(file, parts[k].iov_base, parts[k].iov_len);
  }
  return 0;
}
}

namespace echoform::test {

FullDisk::FullDisk(std::uint64_t bytes) {
  most_bytes = bytes;
}
FullDisk::~FullDisk() {
  most_bytes = no_limit;
}

}  // namespace echoform::test
