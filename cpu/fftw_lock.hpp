// FFTW plans one at a time in a process; executing plans needs no lock.
#pragma once

#include <mutex>

namespace echoform {

/// Held while a plan is made or destroyed, in single or double precision.
[[nodiscard]] std::mutex& fftw_lock();

}  // namespace echoform
