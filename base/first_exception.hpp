// Exceptions of work that several threads share: none of them may leave its thread, which would end the process.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace echoform {

/// Keeps the first of them.
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
  /// What is left to do need not be done.
  [[nodiscard]] bool caught() const noexcept { return caught_.load(std::memory_order_acquire); }
  /// Once all threads are done.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> caught_{false};
};

}  // namespace echoform
