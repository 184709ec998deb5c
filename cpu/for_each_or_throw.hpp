// Set-up work on a thread team that may throw, such as that which asks a delay law. Frames are imaged without it.
#pragma once

#include "base/first_exception.hpp"
#include "base/planning.hpp"
#include "cpu/thread_team.hpp"

namespace echoform {

/// As ThreadTeam::for_each. Throws the first exception of `body`; pieces that were not begun by then are left out, as
/// are those that were not begun when the caller's planning was to end (base/planning.hpp).
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
