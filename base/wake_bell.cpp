#include "base/wake_bell.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/errors.hpp"

namespace echoform {

WakeBell::WakeBell(std::string_view owner) : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw RuntimeFault(fmt::format("{}: no eventfd", owner));
}
WakeBell::~WakeBell() {
  ::close(descriptor_);
}
void WakeBell::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}
bool WakeBell::silence() const noexcept {
  std::uint64_t rings = 0;
  return ::read(descriptor_, &rings, sizeof rings) == sizeof rings;
}
void WakeBell::wait(std::chrono::milliseconds time) const noexcept {
  pollfd place{descriptor_, POLLIN, 0};
  [[maybe_unused]] const int ready = ::poll(&place, 1, static_cast<int>(time.count()));
  silence();
}

}  // namespace echoform
