#include "gpu/fault.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace echoform::gpu {

void end_process(std::string_view line) noexcept {
  static std::atomic_flag ended = ATOMIC_FLAG_INIT;
  if (ended.test_and_set()) {
    for (;;) pause();  // the first caller is about to end all threads
  }
  std::fflush(stdout);
  std::fprintf(stderr, "echoform: GPU fault: %.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stderr);
  _exit(1);
}

}  // namespace echoform::gpu
