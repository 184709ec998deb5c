// What this process holds of the host's memory, and what of it [imaging] memory_limit counts.
#pragma once

namespace echoform {

/// Bytes, resident: now, and at most since the start or since forget_most_held().
struct HeldMemory {
  double now = 0.0;
  double most = 0.0;
};
[[nodiscard]] HeldMemory held_memory();
/// Stacks of threads, tables of libraries and their code, which come with a program's work: what a process of a few threads takes
/// beside what it holds before and what its plans state.
inline constexpr double taken_by_threads = 12e6;
/// What is held now is the most from now on. Does nothing where the system does not let it.
void forget_most_held();

/// Shares out what a process holds: a GPU's driver, its libraries and the code of kernels take memory when they are loaded, which
/// no plan states and no limit counts, and all else is the program's own. Arithmetic alone, on what held_memory() said before and
/// after.
class MemoryShares {
 public:
  /// Something was loaded: what the process grew by is the driver's, but for `own` bytes that the program took itself meanwhile.
  /// Of what it held at most before, nothing is forgotten. Call forget_most_held() afterwards: what loading takes for a moment is
  /// the driver's too.
  void loaded(const HeldMemory& before, const HeldMemory& after, double own = 0.0);

  [[nodiscard]] double driver() const noexcept { return driver_; }
  /// The program's own, now and at most.
  [[nodiscard]] HeldMemory own(const HeldMemory& held) const;

 private:
  double driver_ = 0.0;
  double most_before_ = 0.0;  // own
};

}  // namespace echoform
