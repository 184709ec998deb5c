#include "base/planning.hpp"

#include <fmt/format.h>

#include <utility>

namespace echoform {
namespace {

thread_local const Planning* current_planning = nullptr;

}  // namespace

Planning::Share::Share(const Planning* planning) noexcept : before_(std::exchange(current_planning, planning)) {}

Planning::Share::~Share() {
  current_planning = before_;
}

Planning::Planning(std::stop_token stop, std::chrono::nanoseconds limit)
    : stop_(std::move(stop)), limit_(limit), begin_(std::chrono::steady_clock::now()), here_(this) {}

Planning::~Planning() = default;

const Planning* Planning::current() noexcept {
  return current_planning;
}

void Planning::check() const {
  if (stop_.stop_requested()) throw PlanningEnded("planning: stopped");
  if (limit_.count() == 0 || std::chrono::steady_clock::now() - begin_ <= limit_) return;
  throw PlanningEnded(
      fmt::format("planning: found tables and transforms that take longer than {:g} s; expected fewer pixels, elements or "
                  "samples, or a longer "
                  "[input] planning_timeout",
                  std::chrono::duration<double>(limit_).count()));
}

void keep_planning() {
  if (current_planning != nullptr) current_planning->check();
}

}  // namespace echoform
