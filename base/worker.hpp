// A named thread with a stop token.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace echoform {

struct WorkerOptions {
  std::string name;              ///< as `top` shows it: the system keeps the first 15 bytes
  std::optional<int> processor;  ///< run on this one only
};

/// Runs `body` until it returns; it returns soon once its stop token says so, and does not throw. The destructor requests
/// the stop and waits.
class Worker {
 public:
  using Body = std::function<void(const std::stop_token&)>;
  /// RuntimeFault if the thread cannot be made or the processor is not to be had: then `body` has not run.
  Worker(const WorkerOptions& options, Body body);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void request_stop() noexcept { thread_.request_stop(); }
  /// Waits until the body has returned. May be called again.
  void join();

 private:
  std::jthread thread_;
};

}  // namespace echoform
