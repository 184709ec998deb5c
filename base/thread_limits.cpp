#include "base/thread_limits.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <latch>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/errors.hpp"

namespace echoform {

void require_threads_and_memory(std::size_t threads, std::size_t bytes, std::string_view what) {
  void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    throw RuntimeFault(fmt::format("{}: found no {} MiB of memory to map ({}); expected a higher limit (ulimit -v)", what,
                                   bytes >> 20, std::strerror(errno)));
  }
  // The next threads get the stacks of these threads.
  std::string fault;
  std::latch end(1);
  std::vector<std::jthread> started;
  try {
    for (std::size_t k = 0; k < threads; ++k) started.emplace_back([&end] { end.wait(); });
  } catch (const std::system_error& error) {
    fault = error.what();
  } catch (const std::bad_alloc&) {
    fault = "out of memory";
  }
  end.count_down();
  const std::size_t found = started.size();
  started.clear();
  ::munmap(place, bytes);
  if (fault.empty()) return;
  throw RuntimeFault(
      fmt::format("{}: found {} of {} threads ({}); expected higher limits (ulimit -v, ulimit -u)", what, found, threads, fault));
}

}  // namespace echoform
