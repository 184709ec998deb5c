// Work that is done once for each source of a leg, on several threads, at set-up.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/first_exception.hpp"
#include "base/planning.hpp"

namespace echoform {

/// Calls body(k) for every k < count, on up to `threads` threads (0: as many as processors), in any order. Throws the first
/// exception of a body once all threads are done; PlanningEnded where the caller's planning is to end.
template <class Body>
void over_sources(std::size_t count, std::size_t threads, const Body& body) {
  std::atomic<std::size_t> next{0};
  FirstException exception;
  const Planning* const planning = Planning::current();
  const auto work = [&] {
    exception.keep([&] {
      const Planning::Share share(planning);
      for (std::size_t k = next++; k < count && !exception.caught(); k = next++) {
        keep_planning();
        body(k);
      }
    });
  };
  const std::size_t wanted = threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t k = 1; k < std::min(wanted, count); ++k) helpers.emplace_back(work);
  work();
  helpers.clear();
  exception.rethrow();
}

}  // namespace echoform
