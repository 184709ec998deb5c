// A named thread with a stop token.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace echoform {

struct WorkerOptions {
  std::string name;              ///< shown by `top`; the system keeps the first 15 bytes
  std::optional<int> processor;  ///< the only processor to run on
};

/// Runs `body` until it returns; `body` must return soon once a stop is requested, and must not throw. The destructor
/// requests the stop and waits.
class Worker {
 public:
  using Body = std::function<void(const std::stop_token&)>;
  /// Throws RuntimeFault if the thread cannot be made or the processor is not available; `body` has not run then.
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
