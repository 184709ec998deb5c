// The pipeline's source of time, which tests can replace.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace echoform {

/// Monotonic nanoseconds; differences only.
using SteadyTime = std::chrono::nanoseconds;
/// Nanoseconds since the Unix epoch.
using WallTime = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SteadyTime steady() const noexcept = 0;
  [[nodiscard]] virtual WallTime wall() const noexcept = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const noexcept override { return std::chrono::steady_clock::now().time_since_epoch(); }
  [[nodiscard]] WallTime wall() const noexcept override { return std::chrono::system_clock::now().time_since_epoch(); }
};

/// A clock that stands still until advance() or step_wall() moves it. It is safe to use from any thread.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const noexcept override { return SteadyTime(steady_.load()); }
  [[nodiscard]] WallTime wall() const noexcept override { return WallTime(wall_.load()); }
  void advance(std::chrono::nanoseconds by) noexcept {
    steady_ += by.count();
    wall_ += by.count();
  }
  /// A step of the wall clock alone, as when it is set.
  void step_wall(std::chrono::nanoseconds by) noexcept { wall_ += by.count(); }

 private:
  std::atomic<std::int64_t> steady_{0};
  std::atomic<std::int64_t> wall_{0};
};

}  // namespace echoform
