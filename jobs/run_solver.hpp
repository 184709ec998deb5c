// Iterates until a rule says that it is enough.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "jobs/solver.hpp"

namespace echoform {

/// The first rule that is met ends the run.
struct StoppingRules {
  std::size_t iterations = 20;
  double tolerance = 0.0;    ///< of |H x - y| / |y|; 0: none
  double discrepancy = 0.0;  ///< of |H x - y|, what the noise alone has (Morozov); 0: none
};

/// How far a run has come.
struct SolverProgress {
  std::size_t iterations = 0;
  Iteration last{};  ///< not stated before the first
};

enum class RunEnd : unsigned char { iterations, tolerance, discrepancy, exhausted, interrupted };
/// "20 iterations done", for people.
[[nodiscard]] std::string_view text_of(RunEnd end);

struct RunHooks {
  /// Asked before each iteration; a wish of any process ends the run of all.
  std::function<bool()> interrupted{};
  /// After each; `residual` is |H x - y| / |y|.
  std::function<void(const SolverProgress& progress, double residual)> iterated{};
  /// After every `save_every` iterations, and when the run ends, interrupted or not, but within an iteration. All processes at
  /// once.
  std::function<void(const SolverProgress& progress)> save{};
  std::size_t save_every = 0;  ///< 0: only at the end
};

/// From where the solver is: after begin(), or after its state and `progress` were restored. Throws RuntimeFault where numbers
/// are not finite any more, and what hooks throw.
[[nodiscard]] RunEnd run_solver(Solver& solver, const LeastSquares& problem, const StoppingRules& rules, const RunHooks& hooks,
                                SolverProgress& progress);

}  // namespace echoform
