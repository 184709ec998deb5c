// The host's memory that this process holds, and the part of it that [imaging] memory_limit counts.
#pragma once

namespace echoform {

/// Resident bytes: now, and their maximum since the start or since forget_most_held().
struct HeldMemory {
  double now = 0.0;
  double most = 0.0;
};
[[nodiscard]] HeldMemory held_memory();
/// Stacks of threads, tables of libraries and their code, in bytes, which come with a program's work. A process of a few
/// threads takes them in addition to what it holds before and what its plans state.
inline constexpr double taken_by_threads = 12e6;
/// Resets the maximum to what is held now. Does nothing where the system does not allow it.
void forget_most_held();

/// Divides the memory that a process holds. A GPU's driver, its libraries and the code of kernels take memory when they are
/// loaded, which no plan states and no limit counts. Everything else is the program's own. It only computes, from what
/// held_memory() returned before and after.
class MemoryShares {
 public:
  /// Something was loaded: the growth of the process belongs to the driver, except `own` bytes that the program took itself
  /// meanwhile. The maximum that it held before stays known. Call forget_most_held() afterwards, since memory that loading
  /// takes for a moment belongs to the driver too.
  void loaded(const HeldMemory& before, const HeldMemory& after, double own = 0.0);

  [[nodiscard]] double driver() const noexcept { return driver_; }
  /// The program's own memory, now and at its maximum.
  [[nodiscard]] HeldMemory own(const HeldMemory& held) const;

 private:
  double driver_ = 0.0;
  double most_before_ = 0.0;  // the program's own
};

}  // namespace echoform
