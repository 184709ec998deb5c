// A call that waits on a thread of its own, so that a test sees by what it is woken, however long its own limit is.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/patience.hpp"

namespace echoform::test {

/// A limit for waits that a notification ends: it never passes in a test, and so hides no notification that is missing.
inline constexpr std::chrono::hours endless{24};

class Sleeper {
 public:
  template <class Call>
  explicit Sleeper(Call call)
      : thread_([this, call = std::move(call)] {
          id_ = ::gettid();
          id_.notify_all();
          call();
          returned_.set_value();
        }) {}

  /// Returns once the system says that the call waits; false if it does not, or has returned before.
  [[nodiscard]] bool sleeps() {
    // Many readings in a row: a thread that waits for a mutex sleeps as well, but shortly.
    constexpr int enough = 200;
    id_.wait(0);
    const auto end = std::chrono::steady_clock::now() + patience;
    for (int seen = 0; std::chrono::steady_clock::now() < end && !has_returned();) {
      seen = state() == 'S' ? seen + 1 : 0;
      if (seen == enough) return true;
      std::this_thread::yield();
    }
    return false;
  }
  /// Waits for the call to return, for `patience` at most.
  [[nodiscard]] bool returns() { return future_.wait_for(patience) == std::future_status::ready; }
  [[nodiscard]] bool has_returned() { return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

 private:
  /// As proc(5) has it: behind the name, which may hold anything, in brackets.
  [[nodiscard]] char state() const {
    std::ifstream file(fmt::format("/proc/self/task/{}/stat", id_.load()));
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name = line.rfind(") ");
    return name == std::string::npos ? '?' : line[name + 2];
  }

  std::atomic<::pid_t> id_{0};
  std::promise<void> returned_;
  std::future<void> future_ = returned_.get_future();
  std::jthread thread_;  // joined first
};

}  // namespace echoform::test
