// A time limit for tests of how a process ends. A process that does not end would hang the program that waits for it.
#pragma once

#include <unistd.h>

#include <thread>

#include "tests/support/patience.hpp"

namespace echoform::test {

/// Ends the process with code 3 once `patience` has passed from now on, whatever its other threads do.
inline void end_late() {
  std::thread([] {
    std::this_thread::sleep_for(patience);  // the limit itself
    _exit(3);
  }).detach();
}

}  // namespace echoform::test
