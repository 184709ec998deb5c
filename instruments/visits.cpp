#include "instruments/visits.hpp"

#include <algorithm>
#include <exception>

namespace echoform {

void visit_until_stopped(const VisitPauses& pauses, const WakeBell& bell, const std::atomic<bool>& stopping,
                         const std::function<std::uint64_t()>& frames, const std::function<void()>& visit,
                         const std::function<void(const std::exception&)>& say) {
  using std::chrono::steady_clock;
  std::chrono::milliseconds pause = pauses.first;
  while (!stopping) {
    const std::uint64_t before = frames();
    try {
      visit();
    } catch (const std::exception& reason) {
      if (!stopping) say(reason);
    }
    if (stopping) return;
    if (frames() != before) pause = pauses.first;
    const auto until = steady_clock::now() + pause;
    while (!stopping && steady_clock::now() < until) {
      bell.wait(std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()));
    }
    pause = std::min(2 * pause, pauses.longest);
  }
}

}  // namespace echoform
