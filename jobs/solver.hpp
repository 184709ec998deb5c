// Solvers of least squares: from a linear operator and data to an image, an iteration at a time.
//
// Solvers know the operator by its interface alone. They hold float vectors, and add up in double precision and in a fixed
// order. All that an iteration needs of the one before is in state(): a run that is saved there and restored goes on with
// the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/communicator.hpp"
#include "jobs/penalty.hpp"
#include "jobs/vector_math.hpp"
#include "operators/linear_operator.hpp"

namespace echoform {

/// H of this process's rows of the data, and what all processes share. All of it outlives the solver.
struct LeastSquares {
  LinearOperator& linear;
  std::span<const float> data;  ///< y: linear.data_size() values
  VolumeShape shape;            ///< of the image, linear.image_size() voxels
  VectorMath& math;
  Communicator& communicator;
  /// Asked where much work is done between two iterations; true on any process ends the work of all by SolverInterrupted.
  std::function<bool()> interrupted{};
};

/// begin() or iterate() was interrupted, and the solver's state is of no use any more.
class SolverInterrupted final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};
/// Throws SolverInterrupted if an interruption is requested. All processes call it at once.
void end_if_interrupted(const LeastSquares& problem);

struct SolverOptions {
  PenaltyKind penalty_kind = PenaltyKind::smoothness;  ///< not used by total variation, which is a penalty itself
  double penalty = 0.0;                                ///< lambda, 0 or more
  bool non_negative = false;                           ///< used by the solvers that support it
};

/// The state of the problem after an iteration.
struct Iteration {
  double misfit = 0.0;     ///< |H x - y|
  double objective = 0.0;  ///< what is minimised: misfit^2 and the penalty
  double step = 0.0;       ///< CG and LSQR: factor of the direction; FISTA: 1 / bound; total variation: |x - x before|
  bool exhausted = false;  ///< further iterations change nothing
};

class Solver {
 public:
  virtual ~Solver() = default;
  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Sets x = 0. Called before the first iteration, unless a state is restored.
  virtual void begin() = 0;
  [[nodiscard]] virtual Iteration iterate() = 0;
  [[nodiscard]] virtual std::span<const float> image() const noexcept = 0;
  /// The values of this process's rows: H x, or y - H x where the solver has that.
  struct Rows {
    std::span<const float> values;
    bool residual = false;
  };
  /// The rows after iterate(), for the same image as its misfit.
  [[nodiscard]] virtual Rows rows() const noexcept = 0;

  enum class Extent : std::uint8_t {
    shared,  ///< the same on every process
    rows,    ///< of this process's rows of the data
  };
  struct Vector {
    std::string_view name;
    std::span<float> values;
    Extent extent;
  };
  struct Number {
    std::string_view name;
    double* value;
  };
  struct State {
    std::vector<Vector> vectors;
    std::vector<Number> numbers;
  };
  /// Everything that iterate() goes on from, to be read or written in place.
  [[nodiscard]] virtual State state() = 0;
};

/// min |H x - y|^2 + penalty, by conjugate gradients on the normal equations (CGLS: Bjorck 1996): one apply and one adjoint an
/// iteration. The objective never grows.
[[nodiscard]] std::unique_ptr<Solver> make_conjugate_gradients(const LeastSquares& problem, const SolverOptions& options);
/// The same minimum by LSQR (Paige and Saunders 1982), with sqrt(penalty) R as rows below H. It is steadier where H is
/// ill-conditioned.
[[nodiscard]] std::unique_ptr<Solver> make_lsqr(const LeastSquares& problem, const SolverOptions& options);
/// The same minimum over x >= 0 (options.non_negative), by FISTA (Beck and Teboulle 2009). It begins anew where its
/// momentum leads uphill (O'Donoghue and Candes 2015). begin() estimates the largest eigenvalue; steps that are too long
/// for it are repeated.
[[nodiscard]] std::unique_ptr<Solver> make_fista(const LeastSquares& problem, const SolverOptions& options);
/// min |H x - y|^2 + penalty * sum over voxels |differences|, over x >= 0 where options.non_negative: primal-dual (Chambolle and
/// Pock 2011). begin() estimates the largest eigenvalue.
[[nodiscard]] std::unique_ptr<Solver> make_total_variation(const LeastSquares& problem, const SolverOptions& options);

/// |values|^2 over the rows of all processes.
[[nodiscard]] double squares_of_rows(const LeastSquares& problem, std::span<const float> values);
/// |of_image - data|^2 over the rows of all processes.
[[nodiscard]] double squares_of_misfit(const LeastSquares& problem, std::span<const float> of_image);

/// An estimate of the largest eigenvalue of H^T H + the penalty's, never above it. It is found by some steps of power
/// iteration from a random image; each step may be interrupted.
[[nodiscard]] double largest_eigenvalue(const LeastSquares& problem, const Penalty& penalty);

}  // namespace echoform
