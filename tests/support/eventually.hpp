// Waits for what another thread, another process or the system does in its own time.
#pragma once

#include <chrono>
#include <thread>

#include "tests/support/patience.hpp"

namespace echoform {

/// Asks until `condition` holds; false where `patience` ends first.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  constexpr int soon = 1000;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int asked = 0; !condition(); ++asked) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    // Most conditions become true at once. For the others this thread leaves the processor free.
    if (asked < soon) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return true;
}

}  // namespace echoform
