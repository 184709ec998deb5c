#include "control/control_worker.hpp"

#include <utility>

namespace echoform {
namespace {

wire::ControlReply failed(const char* reason) {
  wire::ControlReply reply;
  reply.set_outcome(wire::FAILED);
  reply.set_reason(reason);
  return reply;
}

}  // namespace

ControlWorker::ControlWorker(Control& control) : control_(control), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ControlWorker::~ControlWorker() {
  thread_.request_stop();
  thread_.join();
  for (const Item& item : waiting_) item.done(failed("the server is stopping"));
}

void ControlWorker::post(wire::ControlRequest request, Done done) {
  if (control_.is_quick(request)) return done(control_.handle(request));
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < most_waiting) {
      waiting_.push_back({std::move(request), std::move(done)});
      wake_.notify_one();
      return;
    }
  }
  done(failed("too many requests wait already"));
}

void ControlWorker::run(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) return;
    const Item item = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    item.done(control_.handle(item.request));
  }
}

}  // namespace echoform
