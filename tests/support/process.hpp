// What the test's own process takes of the system.
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

namespace echoform::testing_support {

/// Bytes that were taken from the heap and not given back.
inline std::size_t heap_in_use() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// Resident bytes of anonymous pages.
inline std::size_t resident_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return 1024 * std::stoul(line.substr(8));
  }
  throw std::runtime_error("/proc/self/status without RssAnon");
}

/// Leaves the process at most `left` further descriptors while it stands.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // The lowest that is free; numbers beyond it may be taken and stay so.
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next) + left;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace echoform::testing_support
