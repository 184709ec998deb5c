#include "base/worker.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <future>
#include <system_error>
#include <utility>

#include "base/errors.hpp"

namespace echoform {

Worker::Worker(const WorkerOptions& options, Body body) {
  // The thread waits until it has its name and its processors, so that nothing of the body runs on the wrong processor.
  std::promise<bool> placed;
  try {
    thread_ = std::jthread([go = placed.get_future(), run = std::move(body)](const std::stop_token& stop) mutable {
      if (go.get()) run(stop);
    });
  } catch (const std::system_error& error) {
    throw RuntimeFault(fmt::format("thread {}: cannot start: {}", options.name, error.what()));
  }
  pthread_setname_np(thread_.native_handle(), options.name.substr(0, 15).c_str());
  if (options.processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int processor = *options.processor;
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &set);
    if (const int error = pthread_setaffinity_np(thread_.native_handle(), sizeof(set), &set); error != 0) {
      placed.set_value(false);
      thread_.join();
      throw RuntimeFault(fmt::format("thread {}: cannot run on processor {}: {}", options.name, processor,
                                     std::generic_category().message(error)));
    }
  }
  placed.set_value(true);
}

Worker::~Worker() = default;

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace echoform
