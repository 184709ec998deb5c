// A limit for log lines that a peer or a disk could cause any number of times a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace echoform {

/// Admits at most one line in each `interval` for one cause, such as peers that were refused for one reason at one endpoint.
/// The lines left out are counted, and the next line states their number:
///
///   if (const auto left_out = limit.admit(clock.steady())) {
///     spdlog::warn("web server: a peer from {} was refused: {}{}", address, reason, left_out_text(*left_out));
///   }
///
/// A line that is left out costs two relaxed operations on atomics, and nothing is formatted. Any thread may call, and none
/// ever waits.
class LogLimit {
 public:
  explicit LogLimit(SteadyTime interval = std::chrono::seconds(1)) noexcept : interval_(interval.count()) {}

  /// If the cause may have a line at `now`: the number of lines left out since its last one. Otherwise the result is empty,
  /// and this call is counted. Each call is either a line, or part of exactly one line's count, or part of left_out().
  [[nodiscard]] std::optional<std::uint64_t> admit(SteadyTime now) noexcept {
    SteadyTime::rep next = next_.load(std::memory_order_relaxed);
    // One that fails has been overtaken by another thread's line.
    if (now.count() < next || !next_.compare_exchange_strong(next, now.count() + interval_, std::memory_order_relaxed)) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    return left_out_.exchange(0, std::memory_order_relaxed);
  }

  /// Lines left out that no line has counted yet.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_.load(std::memory_order_relaxed); }

 private:
  const SteadyTime::rep interval_;
  std::atomic<SteadyTime::rep> next_{std::numeric_limits<SteadyTime::rep>::min()};
  std::atomic<std::uint64_t> left_out_{0};
};

/// " (and 231 more since the last such line)"; empty for none.
[[nodiscard]] inline std::string left_out_text(std::uint64_t left_out) {
  return left_out == 0 ? std::string() : " (and " + std::to_string(left_out) + " more since the last such line)";
}

}  // namespace echoform
