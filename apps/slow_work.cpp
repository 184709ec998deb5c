#include "apps/slow_work.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace echoform {

SlowWork::SlowWork(std::string what) : SlowWork(std::move(what), Intervals{}) {}

SlowWork::SlowWork(std::string what, Intervals intervals)
    : intervals_(intervals), what_(std::move(what)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

SlowWork::~SlowWork() = default;  // the thread is the last member, so it is stopped and joined first

void SlowWork::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  parts_ = 0;
  of_ = 0;
}

void SlowWork::done(std::size_t parts, std::size_t of) {
  const std::lock_guard lock(mutex_);
  parts_ = parts;
  of_ = of;
}

std::string SlowWork::line() const {
  const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start_;
  const std::string progress = of_ > 0 ? fmt::format(": {} of {}", parts_, of_) : "";
  return fmt::format("{}{} after {:.0f} s", what_, progress, so_far.count());
}

void SlowWork::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::chrono::duration<double> due = intervals_.first;
  while (true) {
    const auto until = start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due);
    ends_.wait_until(lock, stop, until, [] { return false; });
    if (stop.stop_requested()) return;
    const std::string text = line();
    lock.unlock();
    spdlog::info("{}", text);
    lock.lock();
    due *= intervals_.factor;
  }
}

}  // namespace echoform
