// Log lines about work that may take long before the first result.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace echoform {

/// While it lives, the log gets a line on what is being done: the first after a while, since most work is over by then, and
/// others more and more rarely. "synthesising frames: 12 of 41 after 13 s".
class SlowWork {
 public:
  struct Intervals {
    std::chrono::milliseconds first{3000};
    double factor = 2.0;  ///< of each later time after the start over the one before
  };

  explicit SlowWork(std::string what);
  SlowWork(std::string what, Intervals intervals);
  ~SlowWork();
  SlowWork(const SlowWork&) = delete;
  SlowWork& operator=(const SlowWork&) = delete;

  /// The next part of the work. From any thread, as is done().
  void begin(std::string what);
  /// How much of this part is done.
  void done(std::size_t parts, std::size_t of);

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] std::string line() const;

  const Intervals intervals_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable_any ends_;
  std::string what_;
  std::size_t parts_ = 0;
  std::size_t of_ = 0;
  std::jthread thread_;
};

}  // namespace echoform
