#include "jobs/run_solver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/errors.hpp"

namespace echoform {
namespace {

/// The stopping rule that is met, if any.
std::optional<RunEnd> ended(const SolverProgress& progress, const StoppingRules& rules, double data_norm) {
  if (progress.iterations > 0) {
    const Iteration& last = progress.last;
    if (rules.discrepancy > 0.0 && last.misfit <= rules.discrepancy) return RunEnd::discrepancy;
    if (rules.tolerance > 0.0 && last.misfit <= rules.tolerance * data_norm) return RunEnd::tolerance;
    if (last.exhausted) return RunEnd::exhausted;
  }
  if (progress.iterations >= rules.iterations) return RunEnd::iterations;
  return std::nullopt;
}

}  // namespace

std::string_view text_of(RunEnd end) {
  switch (end) {
    case RunEnd::iterations:
      return "all iterations done";
    case RunEnd::tolerance:
      return "the residual is within [reconstruction] tolerance";
    case RunEnd::discrepancy:
      return "the residual is that of the noise";
    case RunEnd::exhausted:
      return "nothing is left to be improved";
    case RunEnd::interrupted:
      return "interrupted";
  }
  return "unknown";
}

RunEnd run_solver(Solver& solver, const LeastSquares& problem, const StoppingRules& rules, const RunHooks& hooks,
                  SolverProgress& progress) {
  const double data_norm = std::sqrt(squares_of_rows(problem, problem.data));
  std::size_t saved = progress.iterations;
  const auto save = [&] {
    if (hooks.save && saved != progress.iterations) hooks.save(progress);
    saved = progress.iterations;
  };
  for (;;) {
    std::optional<RunEnd> end = ended(progress, rules, data_norm);
    if (!end && problem.communicator.any(hooks.interrupted && hooks.interrupted())) end = RunEnd::interrupted;
    if (end) {
      save();
      return *end;
    }
    try {
      progress.last = solver.iterate();
    } catch (const SolverInterrupted&) {
      // The iteration was interrupted: the state saved before is the result.
      return RunEnd::interrupted;
    }
    ++progress.iterations;
    if (!std::isfinite(progress.last.misfit) || !std::isfinite(progress.last.objective)) {
      throw RuntimeFault(fmt::format("iteration {}: the residual is not finite any more", progress.iterations));
    }
    if (hooks.iterated) hooks.iterated(progress, data_norm > 0.0 ? progress.last.misfit / data_norm : 0.0);
    if (hooks.save_every > 0 && progress.iterations % hooks.save_every == 0) save();
  }
}

}  // namespace echoform
