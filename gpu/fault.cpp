#include "gpu/fault.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>

namespace echoform::gpu {
namespace {

/// Whether a short write to `descriptor` is possible now, or within 200 ms.
bool takes_text(int descriptor) noexcept {
  pollfd place{descriptor, POLLOUT, 0};
  return poll(&place, 1, 200) == 1 && (place.revents & POLLOUT) != 0;
}

/// Flushes what was printed before, unless another thread is printing or nobody reads.
void flush_output() noexcept {
  if (ftrylockfile(stdout) != 0) return;
  if (takes_text(STDOUT_FILENO)) std::fflush(stdout);
  funlockfile(stdout);
}

}  // namespace

void end_process(std::string_view line) noexcept {
  static std::atomic_flag ended = ATOMIC_FLAG_INIT;
  if (ended.test_and_set()) {
    for (;;) pause();  // the first caller is about to end all threads
  }
  flush_output();
  // The line is written in one piece, of a size that no pipe divides. On a terminal the live line is wiped first.
  char text[1024];
  const int longest = static_cast<int>(std::min<std::size_t>(line.size(), 960));
  const int length = std::snprintf(text, sizeof(text), "%sechoform: GPU fault: %.*s\n",
                                   isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", longest, line.data());
  if (length > 0 && takes_text(STDERR_FILENO)) {
    static_cast<void>(!write(STDERR_FILENO, text, std::min(static_cast<std::size_t>(length), sizeof(text) - 1)));
  }
  _exit(1);
}

}  // namespace echoform::gpu
