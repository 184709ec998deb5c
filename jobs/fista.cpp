#include <algorithm>
#include <cmath>

#include "jobs/solver.hpp"

namespace echoform {
namespace {

// The value that power iteration finds is below the largest eigenvalue.
constexpr double eigenvalue_margin = 1.05;
// Largest rounding error of |H d|, as a share of |y|. For the interpolated model 1.6e-6 at a sample rate of 20 MHz to 1.3e-5 at
// 800 MHz were measured, where samples are small differences of large sums. Below it no bound of the step would ever be enough.
constexpr double rounding_share = 1e-4;

class Fista final : public Solver {
 public:
  Fista(const LeastSquares& problem, const SolverOptions& options)
      : problem_(problem),
        penalty_(options.penalty_kind, options.penalty, problem.shape, problem.math),
        non_negative_(options.non_negative),
        x_(problem.linear.image_size()),
        before_(x_.size()),
        ahead_(x_.size()),
        gradient_(x_.size()),
        of_x_(problem.data.size()),
        of_before_(problem.data.size()),
        of_ahead_(problem.data.size()),
        rounding_(rounding_share * std::sqrt(squares_of_rows(problem, problem.data))) {}

  void begin() override {
    for (auto* const values : {&x_, &before_, &of_x_, &of_before_}) std::fill(values->begin(), values->end(), 0.0F);
    momentum_ = 1.0;
    bound_ = eigenvalue_margin * largest_eigenvalue(problem_, penalty_);
  }

  Iteration iterate() override {
    VectorMath& math = problem_.math;
    if (!(bound_ > 0.0)) return report(0.0, true);
    // z = x + share * (x - the previous x), and H z likewise, because H is linear.
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum_ * momentum_));
    const double share = (momentum_ - 1.0) / next;
    math.combine(ahead_, 1.0 + share, x_, -share, before_);
    math.combine(of_ahead_, 1.0 + share, of_x_, -share, of_before_);
    // The residual at z is stored over values that are no longer needed.
    math.combine(of_before_, 1.0, of_ahead_, -1.0, problem_.data);
    problem_.linear.adjoint(of_before_, gradient_);
    penalty_.add_gradient(1.0, ahead_, gradient_);

    before_.swap(x_);
    of_before_.swap(of_x_);
    double moved = 0.0;
    for (;;) {
      moved = step();
      problem_.linear.apply(x_, of_x_);
      // Both terms are quadratic: the bound holds along this step where |H d|^2 + penalty(d) <= bound |d|^2. Rounding is allowed
      // for, because H d is a small difference of images of float.
      const double along = curvature();
      if (std::sqrt(along) <= std::sqrt(bound_ * moved) * (1.0 + 1e-5) + rounding_) break;
      // The step is too short for float, or not a number: shorter steps would give no better bound.
      if (!(moved > 0.0)) break;
      end_if_interrupted(problem_);
      bound_ = eigenvalue_margin * along / moved;
    }
    // If the momentum leads uphill, it starts again.
    momentum_ = uphill() ? 1.0 : next;
    return report(1.0 / bound_, moved == 0.0 && share == 0.0);
  }

  [[nodiscard]] std::span<const float> image() const noexcept override { return x_; }
  [[nodiscard]] Rows rows() const noexcept override { return {of_x_, false}; }

  State state() override {
    return {.vectors = {{"x", x_, Extent::shared},
                        {"before", before_, Extent::shared},
                        {"of_x", of_x_, Extent::rows},
                        {"of_before", of_before_, Extent::rows}},
            .numbers = {{"momentum", &momentum_}, {"bound", &bound_}}};
  }

 private:
  /// Sets x = projection(z - gradient / bound). Returns |x - z|^2.
  double step() {
    const double length = 1.0 / bound_;
    return problem_.math.sum(x_.size(), [&](std::size_t first, std::size_t last) {
      double total = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        const double from = static_cast<double>(ahead_[k]);
        const double to = from - length * static_cast<double>(gradient_[k]);
        x_[k] = static_cast<float>(non_negative_ ? std::max(0.0, to) : to);
        const double way = static_cast<double>(x_[k]) - from;
        total += way * way;
      }
      return total;
    });
  }

  /// Returns |H (x - z)|^2 + penalty(x - z).
  double curvature() {
    VectorMath& math = problem_.math;
    const double of_rows = math.sum(of_x_.size(), [&](std::size_t first, std::size_t last) {
      double total = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        const double way = static_cast<double>(of_x_[k]) - static_cast<double>(of_ahead_[k]);
        total += way * way;
      }
      return total;
    });
    double of_penalty = 0.0;
    if (penalty_.weight() > 0.0) {
      way_.resize(x_.size());
      math.combine(way_, 1.0, x_, -1.0, ahead_);
      of_penalty = penalty_.value(way_);
    }
    return problem_.communicator.sum_of(of_rows) + of_penalty;
  }

  [[nodiscard]] bool uphill() {
    return problem_.math.sum(x_.size(), [&](std::size_t first, std::size_t last) {
      double total = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        const double x = static_cast<double>(x_[k]);
        total += (static_cast<double>(ahead_[k]) - x) * (x - static_cast<double>(before_[k]));
      }
      return total;
    }) > 0.0;
  }

  Iteration report(double step, bool exhausted) {
    const double squares = squares_of_misfit(problem_, of_x_);
    return {.misfit = std::sqrt(squares), .objective = squares + penalty_.value(x_), .step = step, .exhausted = exhausted};
  }

  LeastSquares problem_;
  Penalty penalty_;
  bool non_negative_;
  std::vector<float> x_, before_, ahead_, gradient_, way_;
  std::vector<float> of_x_, of_before_, of_ahead_;  // H times these images
  double rounding_;                                 // rounding error of |H d|
  double momentum_ = 1.0;
  double bound_ = 0.0;  // bound of the eigenvalues of half the objective's Hessian
};

}  // namespace

std::unique_ptr<Solver> make_fista(const LeastSquares& problem, const SolverOptions& options) {
  return std::make_unique<Fista>(problem, options);
}

}  // namespace echoform
