#include <cmath>

#include "jobs/solver.hpp"

namespace echoform {
namespace {

class ConjugateGradients final : public Solver {
 public:
  ConjugateGradients(const LeastSquares& problem, const SolverOptions& options)
      : problem_(problem),
        penalty_(options.penalty_kind, options.penalty, problem.shape, problem.math),
        x_(problem.linear.image_size()),
        direction_(x_.size()),
        gradient_(x_.size()),
        residual_(problem.data.size()),
        of_direction_(problem.data.size()) {}

  void begin() override {
    std::fill(x_.begin(), x_.end(), 0.0F);
    std::copy(problem_.data.begin(), problem_.data.end(), residual_.begin());
    problem_.linear.adjoint(residual_, gradient_);
    direction_ = gradient_;
    squares_ = problem_.math.squares(gradient_);
  }

  Iteration iterate() override {
    VectorMath& math = problem_.math;
    double step = 0.0;
    double curvature = 0.0;
    if (squares_ > 0.0) {
      problem_.linear.apply(direction_, of_direction_);
      curvature = squares_of_rows(problem_, of_direction_) + penalty_.value(direction_);
    }
    if (curvature > 0.0) {
      step = squares_ / curvature;
      math.add(x_, step, direction_);
      math.add(residual_, -step, of_direction_);
      problem_.linear.adjoint(residual_, gradient_);
      penalty_.add_gradient(-1.0, x_, gradient_);
      const double squares = math.squares(gradient_);
      math.scale_and_add(direction_, squares / squares_, gradient_);
      squares_ = squares;
    }
    const double misfit_squares = squares_of_rows(problem_, residual_);
    return {.misfit = std::sqrt(misfit_squares),
            .objective = misfit_squares + penalty_.value(x_),
            .step = step,
            .exhausted = !(curvature > 0.0) || squares_ == 0.0};
  }

  [[nodiscard]] std::span<const float> image() const noexcept override { return x_; }
  [[nodiscard]] Rows rows() const noexcept override { return {residual_, true}; }

  State state() override {
    return {
        .vectors = {{"x", x_, Extent::shared}, {"direction", direction_, Extent::shared}, {"residual", residual_, Extent::rows}},
        .numbers = {{"squares", &squares_}}};
  }

 private:
  LeastSquares problem_;
  Penalty penalty_;
  std::vector<float> x_;
  std::vector<float> direction_;
  std::vector<float> gradient_;      // -1/2 of the objective's gradient
  std::vector<float> residual_;      // y - H x
  std::vector<float> of_direction_;  // H direction
  double squares_ = 0.0;             // |gradient|^2
};

}  // namespace

std::unique_ptr<Solver> make_conjugate_gradients(const LeastSquares& problem, const SolverOptions& options) {
  return std::make_unique<ConjugateGradients>(problem, options);
}

}  // namespace echoform
