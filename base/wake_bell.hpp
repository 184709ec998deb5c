// Wakes a thread that waits in poll().
#pragma once

#include <chrono>
#include <string_view>

namespace echoform {

/// Any thread may ring the bell; it wakes the one thread that waits.
class WakeBell {
 public:
  /// Throws RuntimeFault, naming `owner`, if the system has no descriptor left.
  explicit WakeBell(std::string_view owner);
  ~WakeBell();
  WakeBell(const WakeBell&) = delete;
  WakeBell& operator=(const WakeBell&) = delete;

  void ring() const noexcept;
  /// Silences the bell and returns whether it was rung. It may have been rung since a poll that found it silent.
  bool silence() const noexcept;
  /// Waits until the bell is rung or the time is over, and silences it.
  void wait(std::chrono::milliseconds time) const noexcept;
  /// The descriptor to poll for reading.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace echoform
