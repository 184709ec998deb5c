// Exceptions of work that several threads share. None may leave its thread, since that would end the process.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace echoform {

/// Keeps the first exception.
class FirstException {
 public:
  template <class Work>
  void keep(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      caught_.store(true, std::memory_order_release);
    }
  }
  /// Whether there was an exception: the remaining work need not be done then.
  [[nodiscard]] bool caught() const noexcept { return caught_.load(std::memory_order_acquire); }
  /// Rethrows the first exception, if any; to be called once all threads are done.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> caught_{false};
};

}  // namespace echoform
