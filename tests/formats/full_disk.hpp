// A disk that is full, for as long as one of these lives: this program's own writes beyond a size fail, as they do there.
#pragma once

#include <cstdint>

namespace echoform::test {

class FullDisk {
 public:
  /// Every file may hold `bytes` bytes. Writes by the C library's streams (fwrite) are not limited.
  explicit FullDisk(std::uint64_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

}  // namespace echoform::test
