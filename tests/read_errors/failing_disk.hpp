// A disk that fails in the middle of a file: reads of one file up to some byte succeed, and fail with EIO from there on.
#pragma once

#include <cstdint>
#include <filesystem>

namespace echoform::test {

/// While one lives, every read(), readv(), pread() and preadv() of this program, by whichever library, finds this file failing
/// from byte `good` on. One at a time.
class FailingDisk {
 public:
  FailingDisk(const std::filesystem::path& file, std::uint64_t good);
  ~FailingDisk();
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
};

}  // namespace echoform::test
