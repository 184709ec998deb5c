#include <algorithm>
#include <cmath>

#include "jobs/solver.hpp"

namespace echoform {
namespace {

// The value that power iteration finds is below the largest eigenvalue.
constexpr double norm_margin = 1.1;
// H and the differences, scaled to the norm of H, together have a norm of at most sqrt(2) |H|. With this share the product of the
// two steps times that norm's square stays below 1.
constexpr double step_share = 0.7;

/// Names are those of the paper: p is dual to the data, q to the differences. Half the objective is minimised, and the
/// differences are scaled so that both parts have the same weight.
class TotalVariation final : public Solver {
 public:
  TotalVariation(const LeastSquares& problem, const SolverOptions& options)
      : problem_(problem),
        differences_(problem.shape, problem.math),
        weight_(options.penalty),
        non_negative_(options.non_negative),
        x_(problem.linear.image_size()),
        ahead_(x_.size()),
        gradient_(x_.size()),
        q_(differences_.values()),
        of_x_(problem.data.size()),
        of_ahead_(problem.data.size()),
        p_(problem.data.size()) {}

  void begin() override {
    for (auto* const values : {&x_, &ahead_, &q_, &of_x_, &of_ahead_, &p_}) std::fill(values->begin(), values->end(), 0.0F);
    largest_ = norm_margin * largest_eigenvalue(problem_, Penalty(PenaltyKind::damping, 0.0, problem_.shape, problem_.math));
  }

  Iteration iterate() override {
    if (!(largest_ > 0.0)) return report(0.0, true);
    VectorMath& math = problem_.math;
    const double sigma = step_share;
    const double tau = step_share / largest_;
    const double scale = std::sqrt(largest_ / Differences::largest_eigenvalue);

    math.for_blocks(p_.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const double misfit = static_cast<double>(of_ahead_[k]) - static_cast<double>(problem_.data[k]);
        p_[k] = static_cast<float>((static_cast<double>(p_[k]) + sigma * misfit) / (1.0 + sigma));
      }
    });
    differences_.apply(sigma * scale, ahead_, 1.0, q_);
    shorten(0.5 * weight_ / scale);

    problem_.linear.adjoint(p_, gradient_);
    differences_.add_transposed(scale, q_, gradient_);
    const double moved = step(tau);
    // H of the next x, and from it H of the extrapolated x.
    of_ahead_.swap(of_x_);
    problem_.linear.apply(x_, of_x_);
    math.combine(of_ahead_, 2.0, of_x_, -1.0, of_ahead_);
    return report(std::sqrt(moved), false);
  }

  [[nodiscard]] std::span<const float> image() const noexcept override { return x_; }
  [[nodiscard]] Rows rows() const noexcept override { return {of_x_, false}; }

  State state() override {
    return {.vectors = {{"x", x_, Extent::shared},
                        {"ahead", ahead_, Extent::shared},
                        {"q", q_, Extent::shared},
                        {"of_x", of_x_, Extent::rows},
                        {"of_ahead", of_ahead_, Extent::rows},
                        {"p", p_, Extent::rows}},
            .numbers = {{"largest", &largest_}}};
  }

 private:
  /// Shortens the three values of q at a voxel to a length of `most` where they are longer.
  void shorten(double most) {
    const std::size_t voxels = x_.size();
    problem_.math.for_blocks(voxels, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const double a = static_cast<double>(q_[k]);
        const double b = static_cast<double>(q_[voxels + k]);
        const double c = static_cast<double>(q_[2 * voxels + k]);
        const double length = std::sqrt(a * a + b * b + c * c);
        if (length <= most) continue;
        const double factor = most / length;
        q_[k] = static_cast<float>(a * factor);
        q_[voxels + k] = static_cast<float>(b * factor);
        q_[2 * voxels + k] = static_cast<float>(c * factor);
      }
    });
  }

  /// Moves x by tau against the gradient, and `ahead` twice as far. Returns the square of the step's length.
  double step(double tau) {
    return problem_.math.sum(x_.size(), [&](std::size_t first, std::size_t last) {
      double total = 0.0;
      for (std::size_t k = first; k < last; ++k) {
        const double from = static_cast<double>(x_[k]);
        const double to = from - tau * static_cast<double>(gradient_[k]);
        x_[k] = static_cast<float>(non_negative_ ? std::max(0.0, to) : to);
        const double way = static_cast<double>(x_[k]) - from;
        ahead_[k] = static_cast<float>(static_cast<double>(x_[k]) + way);
        total += way * way;
      }
      return total;
    });
  }

  Iteration report(double step, bool exhausted) {
    const double squares = squares_of_misfit(problem_, of_x_);
    return {.misfit = std::sqrt(squares),
            .objective = squares + weight_ * differences_.lengths(x_),
            .step = step,
            .exhausted = exhausted};
  }

  LeastSquares problem_;
  Differences differences_;
  double weight_;
  bool non_negative_;
  std::vector<float> x_, ahead_, gradient_;
  std::vector<float> q_;
  std::vector<float> of_x_, of_ahead_, p_;
  double largest_ = 0.0;  // upper bound of the eigenvalues of H^T H: norm_margin times the value found
};

}  // namespace

std::unique_ptr<Solver> make_total_variation(const LeastSquares& problem, const SolverOptions& options) {
  return std::make_unique<TotalVariation>(problem, options);
}

}  // namespace echoform
