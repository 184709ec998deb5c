#include "base/descriptors.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <vector>

namespace echoform {

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // a failure is reported where the descriptors are missing
}

std::size_t descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  return limit.rlim_cur;
}

bool fewer_descriptors_left(int newest, std::size_t left) noexcept {
  return newest >= 0 && static_cast<std::size_t>(newest) + left >= descriptor_limit();
}

void throw_system_fault(int error, const std::string& line) {
  if (error == EMFILE || error == ENFILE) throw DescriptorShortage(line);
  throw RuntimeFault(line);
}

void require_descriptors(std::size_t count, std::string_view what) {
  std::vector<int> taken;
  taken.reserve(count);
  while (taken.size() < count) {
    const int descriptor = ::eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) break;
    taken.push_back(descriptor);
  }
  for (const int descriptor : taken) ::close(descriptor);
  if (taken.size() == count) return;
  throw RuntimeFault(fmt::format("{}: found {} free file descriptors of {}; expected {} (ulimit -n)", what, taken.size(),
                                 descriptor_limit(), count));
}

}  // namespace echoform
