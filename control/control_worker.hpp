// Requests of callers that must not wait: a thread serves them, one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "control/control.hpp"

namespace echoform {

class ControlWorker {
 public:
  using Done = std::function<void(const wire::ControlReply&)>;
  /// The maximum number of waiting requests.
  static constexpr std::size_t most_waiting = 16;

  /// `control` outlives the worker.
  explicit ControlWorker(Control& control);
  /// Waits for the request that is being served. Requests that still wait are answered FAILED.
  ~ControlWorker();
  ControlWorker(const ControlWorker&) = delete;
  ControlWorker& operator=(const ControlWorker&) = delete;

  /// Returns at once. `done` is called once: before post() returns if the request is quick or too many requests wait
  /// (FAILED), otherwise on the worker's thread.
  void post(wire::ControlRequest request, Done done);

 private:
  struct Item {
    wire::ControlRequest request;
    Done done;
  };
  void run(const std::stop_token& stop);

  Control& control_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Item> waiting_;
  std::jthread thread_;  // destroyed first
};

}  // namespace echoform
