// Wakes a thread that waits in poll().
#pragma once

#include <chrono>
#include <string_view>

namespace echoform {

/// Rung from any thread, heard by the one that waits.
class WakeBell {
 public:
  /// RuntimeFault, naming `owner`, where the system has no descriptor left for it.
  explicit WakeBell(std::string_view owner);
  ~WakeBell();
  WakeBell(const WakeBell&) = delete;
  WakeBell& operator=(const WakeBell&) = delete;

  void ring() const noexcept;
  /// Returns whether it was rung: whoever has polled the descriptor and found it silent may be rung since.
  bool silence() const noexcept;
  /// Returns when it is rung, or the time is over; silences it.
  void wait(std::chrono::milliseconds time) const noexcept;
  /// To be polled for reading.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace echoform
