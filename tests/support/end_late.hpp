// For tests of how a process ends: one that does not end would hang the program that waits for it.
#pragma once

#include <unistd.h>

#include <thread>

#include "tests/support/patience.hpp"

namespace echoform::test {

/// From now on the process ends with code 3 once `patience` has passed, whatever its other threads do.
inline void end_late() {
  std::thread([] {
    std::this_thread::sleep_for(patience);  // the limit itself
    _exit(3);
  }).detach();
}

}  // namespace echoform::test
