// The lock for FFTW's planner, which is not thread-safe. Executing plans needs no lock.
#pragma once

#include <mutex>

namespace echoform {

/// The mutex that must be held while a plan is made or destroyed, in single or double precision.
[[nodiscard]] std::mutex& fftw_lock();

}  // namespace echoform
