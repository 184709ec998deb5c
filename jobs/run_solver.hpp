// Iterates until a stopping rule is met.
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
  double discrepancy = 0.0;  ///< of |H x - y|: the norm of the noise alone (Morozov); 0: none
};

/// How far a run has come.
struct SolverProgress {
  std::size_t iterations = 0;
  Iteration last{};  ///< without meaning before the first iteration
};

enum class RunEnd : unsigned char { iterations, tolerance, discrepancy, exhausted, interrupted };
/// "20 iterations done", for people.
[[nodiscard]] std::string_view text_of(RunEnd end);

struct RunHooks {
  /// Asked before each iteration; true on any process ends the run on all.
  std::function<bool()> interrupted{};
  /// Called after each iteration; `residual` is |H x - y| / |y|.
  std::function<void(const SolverProgress& progress, double residual)> iterated{};
  /// Called after every `save_every` iterations and when the run ends, also when it is interrupted between two iterations, but
  /// not when it is interrupted within one. All processes call it at once.
  std::function<void(const SolverProgress& progress)> save{};
  std::size_t save_every = 0;  ///< 0: only at the end
};

/// Runs the solver from its present state: after begin(), or after its state and `progress` were restored. Throws
/// RuntimeFault if numbers are no longer finite, and what hooks throw.
[[nodiscard]] RunEnd run_solver(Solver& solver, const LeastSquares& problem, const StoppingRules& rules, const RunHooks& hooks,
                                SolverProgress& progress);

}  // namespace echoform
