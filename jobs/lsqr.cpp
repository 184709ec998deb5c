#include <cmath>

#include "jobs/solver.hpp"

namespace echoform {
namespace {

/// Names are those of the paper's algorithm LSQR.
class Lsqr final : public Solver {
 public:
  Lsqr(const LeastSquares& problem, const SolverOptions& options)
      : problem_(problem),
        penalty_(options.penalty_kind, options.penalty, problem.shape, problem.math),
        x_(problem.linear.image_size()),
        v_(x_.size()),
        w_(x_.size()),
        next_(x_.size()),
        u_(problem.data.size()),
        of_v_(problem.data.size()),
        of_w_(problem.data.size()),
        residual_(problem.data.size()),
        penalty_u_(penalty_.rows()) {}

  void begin() override {
    VectorMath& math = problem_.math;
    std::fill(x_.begin(), x_.end(), 0.0F);
    std::fill(of_w_.begin(), of_w_.end(), 0.0F);
    std::fill(penalty_u_.begin(), penalty_u_.end(), 0.0F);
    std::copy(problem_.data.begin(), problem_.data.end(), residual_.begin());
    u_ = residual_;
    phi_bar_ = std::sqrt(squares_of_rows(problem_, u_));
    if (phi_bar_ > 0.0) math.scale(u_, 1.0 / phi_bar_);
    problem_.linear.adjoint(u_, v_);
    alpha_ = std::sqrt(math.squares(v_));
    if (alpha_ > 0.0) math.scale(v_, 1.0 / alpha_);
    w_ = v_;
    rho_bar_ = alpha_;
    ratio_ = 0.0;
  }

  Iteration iterate() override {
    const bool exhausted = alpha_ == 0.0;
    double step = 0.0;
    if (!exhausted) step = advance();
    const double misfit_squares = squares_of_rows(problem_, residual_);
    return {.misfit = std::sqrt(misfit_squares),
            .objective = misfit_squares + penalty_.value(x_),
            .step = step,
            .exhausted = exhausted || alpha_ == 0.0};
  }

  [[nodiscard]] std::span<const float> image() const noexcept override { return x_; }
  [[nodiscard]] Rows rows() const noexcept override { return {residual_, true}; }

  State state() override {
    return {.vectors = {{"x", x_, Extent::shared},
                        {"v", v_, Extent::shared},
                        {"w", w_, Extent::shared},
                        {"penalty_u", penalty_u_, Extent::shared},
                        {"u", u_, Extent::rows},
                        {"of_w", of_w_, Extent::rows},
                        {"residual", residual_, Extent::rows}},
            .numbers = {{"alpha", &alpha_}, {"phi_bar", &phi_bar_}, {"rho_bar", &rho_bar_}, {"ratio", &ratio_}}};
  }

 private:
  double advance() {
    VectorMath& math = problem_.math;
    problem_.linear.apply(v_, of_v_);
    // H w follows from the recurrence of w, so that the residual is known without another apply.
    math.combine(of_w_, 1.0, of_v_, -ratio_, of_w_);
    math.combine(u_, 1.0, of_v_, -alpha_, u_);
    penalty_.apply(v_, -alpha_, penalty_u_);
    const double beta = std::sqrt(squares_of_rows(problem_, u_) + math.squares(penalty_u_));
    if (beta > 0.0) {
      math.scale(u_, 1.0 / beta);
      math.scale(penalty_u_, 1.0 / beta);
    }
    problem_.linear.adjoint(u_, next_);
    penalty_.add_transposed(penalty_u_, next_);
    math.combine(v_, 1.0, next_, -beta, v_);
    alpha_ = std::sqrt(math.squares(v_));
    if (alpha_ > 0.0) math.scale(v_, 1.0 / alpha_);

    const double rho = std::hypot(rho_bar_, beta);
    if (!(rho > 0.0)) {
      alpha_ = 0.0;
      return 0.0;
    }
    const double cosine = rho_bar_ / rho;
    const double sine = beta / rho;
    const double step = cosine * phi_bar_ / rho;
    phi_bar_ *= sine;
    rho_bar_ = -cosine * alpha_;
    math.add(x_, step, w_);
    math.add(residual_, -step, of_w_);
    ratio_ = sine * alpha_ / rho;
    math.combine(w_, 1.0, v_, -ratio_, w_);
    return step;
  }

  LeastSquares problem_;
  Penalty penalty_;
  std::vector<float> x_, v_, w_, next_;
  std::vector<float> u_, of_v_, of_w_, residual_;
  std::vector<float> penalty_u_;  // the part of u that belongs to the penalty
  double alpha_ = 0.0;
  double phi_bar_ = 0.0;
  double rho_bar_ = 0.0;
  double ratio_ = 0.0;  // theta / rho
};

}  // namespace

std::unique_ptr<Solver> make_lsqr(const LeastSquares& problem, const SolverOptions& options) {
  return std::make_unique<Lsqr>(problem, options);
}

}  // namespace echoform
