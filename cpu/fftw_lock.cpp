#include "cpu/fftw_lock.hpp"

namespace echoform {

std::mutex& fftw_lock() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace echoform
