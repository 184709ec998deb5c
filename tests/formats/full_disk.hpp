// A disk that is full, for as long as one of these lives: this program's own writes beyond a size fail, as they do there.
#pragma once

#include <cstdint>

namespace echoform::test {

class FullDisk {
 public:
  /// Of every file `bytes` find room. Not for what the C library's streams (fwrite) write.
  explicit FullDisk(std::uint64_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

}  // namespace echoform::test
