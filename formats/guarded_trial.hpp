// A trial run of a library on a file, in a process of its own: what crashes there does not crash here.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace echoform::formats {

struct TrialLimits {
  unsigned processor_seconds = 30;
  /// A limit for a library that sleeps; it is far longer than `processor_seconds` of work take on a busy machine.
  std::chrono::milliseconds wall_time = std::chrono::minutes(15);
  std::size_t memory = std::size_t{1} << 30;  ///< beyond what this process has already
};

/// Runs `trial` in a forked copy of this process and waits for it. An InputError that it throws is thrown here; if it dies
/// or exceeds the limits, an InputError says so of `where`. Nothing else that `trial` does is seen here.
/// Throws RuntimeFault if the copy cannot be made. Set-up only: costs a fork.
void try_in_child(const std::string& where, const std::function<void()>& trial, const TrialLimits& limits = {});

}  // namespace echoform::formats
