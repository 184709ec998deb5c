#include "tests/read_errors/failing_disk.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

namespace echoform::test {
namespace {

struct Failing {
  bool present = false;
  dev_t device = 0;
  ino_t file = 0;
  std::uint64_t good = 0;
};
Failing failing;

/// How many of `count` bytes can be had from `offset` on.
std::size_t good_bytes(int descriptor, std::uint64_t offset, std::size_t count) {
  struct stat state {};
  if (!failing.present || ::fstat(descriptor, &state) != 0 || state.st_dev != failing.device || state.st_ino != failing.file)
    return count;
  return offset >= failing.good ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(count, failing.good - offset));
}

ssize_t read_at(int descriptor, void* to, std::size_t count, off_t offset) {
  const std::size_t good = good_bytes(descriptor, static_cast<std::uint64_t>(offset), count);
  if (good == 0 && count > 0) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_pread64, descriptor, to, good, offset);
}

ssize_t read_on(int descriptor, void* to, std::size_t count) {
  const off_t offset = failing.present ? ::lseek(descriptor, 0, SEEK_CUR) : -1;
  const std::size_t good = offset < 0 ? count : good_bytes(descriptor, static_cast<std::uint64_t>(offset), count);
  if (good == 0 && count > 0) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_read, descriptor, to, good);
}

}  // namespace

FailingDisk::FailingDisk(const std::filesystem::path& file, std::uint64_t good) {
  struct stat state {};
  if (failing.present || ::stat(file.c_str(), &state) != 0)
    throw std::logic_error("found no file; expected one alone that fails");
  failing = {.present = true, .device = state.st_dev, .file = state.st_ino, .good = good};
}

FailingDisk::~FailingDisk() {
  failing = {};
}

}  // namespace echoform::test

// The C library's functions of these names, for this program and the libraries that it is linked to.
extern "C" {

ssize_t read(int descriptor, void* to, size_t count) {
  return echoform::test::read_on(descriptor, to, count);
}

ssize_t pread(int descriptor, void* to, size_t count, off_t offset) {
  return echoform::test::read_at(descriptor, to, count, offset);
}

ssize_t pread64(int descriptor, void* to, size_t count, off64_t offset) {
  return echoform::test::read_at(descriptor, to, count, offset);
}

// One part at a time is as good: readers ask for what is missing.
ssize_t readv(int descriptor, const iovec* parts, int count) {
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len > 0) return echoform::test::read_on(descriptor, parts[k].iov_base, parts[k].iov_len);
  }
  return 0;
}

ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len > 0) return echoform::test::read_at(descriptor, parts[k].iov_base, parts[k].iov_len, offset);
  }
  return 0;
}

}  // extern "C"
