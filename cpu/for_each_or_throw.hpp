// Set-up work on a thread team that may throw, such as evaluating a delay law. Imaging of frames does not use it.
#pragma once

#include "base/first_exception.hpp"
#include "base/planning.hpp"
#include "cpu/thread_team.hpp"

namespace echoform {

/// Works as ThreadTeam::for_each, and throws the first exception of `body`. Pieces that had not begun by then are skipped.
/// So are pieces that had not begun when the caller's planning was cancelled (base/planning.hpp).
template <class Body>
void for_each_or_throw(ThreadTeam& team, std::size_t count, std::size_t grain, const Body& body) {
  FirstException exception;
  const Planning* const planning = Planning::current();
  team.for_each(count, grain, [&](std::size_t first, std::size_t last, std::size_t member) {
    if (exception.caught()) return;
    exception.keep([&] {
      const Planning::Share share(planning);
      keep_planning();
      body(first, last, member);
    });
  });
  exception.rethrow();
}

}  // namespace echoform
