#include "jobs/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/run_solver.hpp"
#include "tests/jobs/dense.hpp"

namespace echoform::test {
namespace {

constexpr VolumeShape small{4, 3, 3};
constexpr std::size_t rows = 60;

Problem random_problem(std::size_t threads = 1) {
  return {drawn(rows * small.voxels(), 11), drawn(rows, 12), small, threads};
}

std::vector<double> identity_matrix(std::size_t n) {
  std::vector<double> matrix(n * n);
  for (std::size_t k = 0; k < n; ++k) matrix[k * n + k] = 1.0;
  return matrix;
}

Iteration iterate(Solver& solver, int iterations) {
  Iteration last;
  for (int k = 0; k < iterations; ++k) last = solver.iterate();
  return last;
}

double misfit_of(Problem& problem, std::span<const float> image) {
  std::vector<float> of_image(problem.data.size());
  problem.dense.apply(image, of_image);
  double sum = 0.0;
  for (std::size_t k = 0; k < of_image.size(); ++k)
    sum += std::pow(static_cast<double>(of_image[k]) - static_cast<double>(problem.data[k]), 2);
  return std::sqrt(sum);
}

struct QuadraticCase {
  const char* name;
  std::unique_ptr<Solver> (*make)(const LeastSquares&, const SolverOptions&);
  PenaltyKind kind;
  double weight;
};

class Quadratic : public testing::TestWithParam<QuadraticCase> {};

TEST_P(Quadratic, FindsTheSolutionOfTheNormalEquations) {
  const QuadraticCase& test = GetParam();
  Problem problem = random_problem();
  const auto solver =
      test.make(problem.least_squares(), {.penalty_kind = test.kind, .penalty = test.weight, .non_negative = false});
  solver->begin();
  const Iteration last = iterate(*solver, 300);
  const auto penalty = test.kind == PenaltyKind::smoothness ? curvature_matrix(small) : identity_matrix(small.voxels());
  const std::vector<double> expected = solved(normal_equations(problem.dense, problem.data, test.weight, penalty));
  // Data and images are floats, and the matrix has a condition of some 10: several roundings of 6e-8 each.
  EXPECT_LT(distance(solver->image(), expected), 1e-5);
  EXPECT_NEAR(last.misfit, misfit_of(problem, solver->image()), 1e-5 * last.misfit);
  EXPECT_GE(last.objective, last.misfit * last.misfit * (1.0 - 1e-12));
}

INSTANTIATE_TEST_SUITE_P(All, Quadratic,
                         testing::Values(QuadraticCase{"gradients", make_conjugate_gradients, PenaltyKind::smoothness, 0.0},
                                         QuadraticCase{"smooth_gradients", make_conjugate_gradients, PenaltyKind::smoothness,
                                                       20.0},
                                         QuadraticCase{"damped_gradients", make_conjugate_gradients, PenaltyKind::damping, 5.0},
                                         QuadraticCase{"lsqr", make_lsqr, PenaltyKind::smoothness, 0.0},
                                         QuadraticCase{"smooth_lsqr", make_lsqr, PenaltyKind::smoothness, 20.0},
                                         QuadraticCase{"damped_lsqr", make_lsqr, PenaltyKind::damping, 5.0},
                                         QuadraticCase{"smooth_fista", make_fista, PenaltyKind::smoothness, 20.0}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ConjugateGradients, NeverMakeTheObjectiveLarger) {
  // More unknowns than rows, so that convergence takes its time.
  Problem problem(drawn(30 * small.voxels(), 13), drawn(30, 14), small);
  const auto solver = make_conjugate_gradients(problem.least_squares(), {.penalty = 0.01});
  solver->begin();
  double before = INFINITY;
  for (int k = 0; k < 60; ++k) {
    const double objective = solver->iterate().objective;
    EXPECT_LE(objective, before * (1.0 + 1e-6)) << k;  // rounding of the residual in float
    before = objective;
  }
}

TEST(ConjugateGradients, AreAtTheEndWhereDataAreZero) {
  Problem problem(drawn(rows * small.voxels(), 15), std::vector<double>(rows), small);
  for (const auto make : {make_conjugate_gradients, make_lsqr}) {
    const auto solver = make(problem.least_squares(), {});
    solver->begin();
    const Iteration last = solver->iterate();
    EXPECT_TRUE(last.exhausted);
    EXPECT_EQ(last.misfit, 0.0);
    EXPECT_TRUE(std::ranges::all_of(solver->image(), [](float value) { return value == 0.0F; }));
  }
}

TEST(Fista, IsNotNegativeAndAtItsOptimum) {
  Problem problem = random_problem();
  constexpr double weight = 2.0;
  const auto solver = make_fista(problem.least_squares(), {.penalty = weight, .non_negative = true});
  solver->begin();
  static_cast<void>(iterate(*solver, 400));
  const NormalEquations normal = normal_equations(problem.dense, problem.data, weight, curvature_matrix(small));
  const std::size_t n = small.voxels();
  const auto gradient_at = [&](const auto& x, std::size_t i) {
    double sum = -normal.right[i];
    for (std::size_t j = 0; j < n; ++j) sum += normal.matrix[i * n + j] * static_cast<double>(x[j]);
    return sum;
  };
  // Karush, Kuhn and Tucker: where x > 0 the gradient is 0, where x = 0 it is not below 0. Gradients at 0 are some 10.
  const auto image = solver->image();
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_GE(image[i], 0.0F);
    const double gradient = gradient_at(image, i);
    if (image[i] > 0.0F) {
      EXPECT_NEAR(gradient, 0.0, 2e-4) << i;
    } else {
      EXPECT_GE(gradient, -2e-4) << i;
    }
  }
  EXPECT_TRUE(std::ranges::any_of(image, [](float value) { return value == 0.0F; }));
  // Plain projected gradients to the end, in double.
  std::vector<double> reference(n);
  for (int k = 0; k < 20000; ++k) {
    std::vector<double> next(n);
    for (std::size_t i = 0; i < n; ++i) next[i] = std::max(0.0, reference[i] - gradient_at(reference, i) / 300.0);
    reference = next;
  }
  EXPECT_LT(distance(image, reference), 1e-5);
}

TEST(Fista, GoesOnToTheEndWhereTheOperatorRounds) {
  Problem problem = random_problem();
  double norm = 0.0;
  for (const float value : problem.data) norm += std::pow(static_cast<double>(value), 2);
  norm = std::sqrt(norm);
  const std::vector<double> expected = solved(normal_equations(problem.dense, problem.data, 20.0, curvature_matrix(small)));
  // Of the data: what a fine sampling makes of float, and so much that no bound of a step holds for short ones.
  for (const auto& [rounding, from_expected] : {std::pair{1e-5, 1e-3}, std::pair{1e-2, 0.5}}) {
    RoundedOperator rounded(problem.dense, rounding * norm / std::sqrt(static_cast<double>(rows)));
    const LeastSquares least_squares{rounded, problem.data, small, problem.math, *problem.communicator};
    const auto solver = make_fista(least_squares, {.penalty = 20.0});
    solver->begin();
    const Iteration last = iterate(*solver, 300);
    EXPECT_TRUE(std::isfinite(last.objective));
    EXPECT_LT(distance(solver->image(), expected), from_expected) << rounding;
  }
}

TEST(Fista, AndTotalVariationEndTheirBeginningWhereThatIsWished) {
  Problem problem = random_problem();
  for (const auto make : {make_fista, make_total_variation}) {
    LeastSquares least_squares = problem.least_squares();
    std::size_t asked = 0;
    least_squares.interrupted = [&] { return ++asked == 3; };
    EXPECT_THROW(make(least_squares, {})->begin(), SolverInterrupted);
    EXPECT_EQ(asked, 3U);
  }
}

/// A box of 1 in a volume of 0, seen by fewer noisy rows than there are voxels.
struct BoxInNoise {
  static constexpr VolumeShape shape{8, 8, 6};
  std::vector<double> truth = std::vector<double>(shape.voxels());
  std::vector<double> matrix = drawn(200 * shape.voxels(), 21);
  std::vector<double> data = std::vector<double>(200);

  BoxInNoise() {
    for (std::size_t z = 1; z < 4; ++z) {
      for (std::size_t y = 2; y < 6; ++y) {
        for (std::size_t x = 2; x < 6; ++x) truth[(z * shape.y + y) * shape.x + x] = 1.0;
      }
    }
    const std::vector<double> noise = drawn(data.size(), 22);
    for (std::size_t row = 0; row < data.size(); ++row) {
      for (std::size_t k = 0; k < truth.size(); ++k) data[row] += matrix[row * truth.size() + k] * truth[k];
      data[row] += 0.3 * noise[row];
    }
  }
};

TEST(TotalVariation, FindsEdgesInNoiseThatQuadraticPenaltiesBlur) {
  const BoxInNoise box;
  Problem problem(box.matrix, box.data, BoxInNoise::shape);
  const auto error_of = [&](auto make, double weight, int iterations) {
    const auto solver = make(problem.least_squares(), SolverOptions{.penalty = weight});
    solver->begin();
    static_cast<void>(iterate(*solver, iterations));
    return distance(solver->image(), box.truth);
  };
  double quadratic = INFINITY;
  for (const double weight : {0.3, 1.0, 3.0, 10.0, 30.0, 100.0})
    quadratic = std::min(quadratic, error_of(make_conjugate_gradients, weight, 100));
  double edges = INFINITY;
  for (const double weight : {3.0, 10.0, 30.0}) edges = std::min(edges, error_of(make_total_variation, weight, 400));
  // 200 of 384 values are measured: a box is found by its edges, and not by smoothness.
  EXPECT_LT(edges, 0.5 * quadratic);
  EXPECT_LT(edges, 0.1);
}

TEST(TotalVariation, EndsWhereItsDualProblemDoes) {
  // 0 <= objective - least: by the dual problem's bound. Here the least is known: with H = 1 and a weight above all, the mean.
  const VolumeShape line{6, 1, 1};
  const std::vector<double> y{1.0, 2.0, 3.0, 4.0, 5.0, 9.0};
  Problem problem(identity_matrix(6), y, line);
  const auto solver = make_total_variation(problem.least_squares(), {.penalty = 100.0});
  solver->begin();
  static_cast<void>(iterate(*solver, 3000));
  for (const float value : solver->image()) EXPECT_NEAR(value, 4.0, 1e-3);
  // With a light one: ends move inwards by weight / 2 over the length of their steps (taut string).
  const auto light = make_total_variation(problem.least_squares(), {.penalty = 1.0});
  light->begin();
  static_cast<void>(iterate(*light, 3000));
  const std::vector<double> expected{1.5, 2.0, 3.0, 4.0, 5.0, 8.5};
  EXPECT_LT(distance(light->image(), expected), 1e-4);
}

TEST(TotalVariation, HasNoNegativeValuesWhereNoneMayBe) {
  Problem problem = random_problem();
  const auto solver = make_total_variation(problem.least_squares(), {.penalty = 1.0, .non_negative = true});
  solver->begin();
  static_cast<void>(iterate(*solver, 100));
  EXPECT_TRUE(std::ranges::none_of(solver->image(), [](float value) { return value < 0.0F; }));
}

TEST(LargestEigenvalue, IsFoundFromBelow) {
  Problem problem = random_problem();
  const Penalty none(PenaltyKind::damping, 0.0, small, problem.math);
  const double found = largest_eigenvalue(problem.least_squares(), none);
  // By very many steps, in double.
  const NormalEquations normal = normal_equations(problem.dense, problem.data, 0.0, identity_matrix(small.voxels()));
  std::vector<double> v(small.voxels(), 1.0);
  double expected = 0.0;
  for (int k = 0; k < 2000; ++k) {
    std::vector<double> next(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t j = 0; j < v.size(); ++j) next[i] += normal.matrix[i * v.size() + j] * v[j];
    }
    expected = 0.0;
    for (const double value : next) expected += value * value;
    expected = std::sqrt(expected);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = next[i] / expected;
  }
  EXPECT_LE(found, expected * (1.0 + 1e-6));
  EXPECT_GE(found, 0.8 * expected);
}

class EverySolver : public testing::TestWithParam<std::unique_ptr<Solver> (*)(const LeastSquares&, const SolverOptions&)> {};

TEST_P(EverySolver, HasTheSameBitsWhateverTheThreads) {
  std::vector<float> images[2];
  for (const std::size_t threads : {1, 3}) {
    Problem problem = random_problem(threads);
    const auto solver = GetParam()(problem.least_squares(), {.penalty = 1.0});
    solver->begin();
    static_cast<void>(iterate(*solver, 20));
    images[threads > 1].assign(solver->image().begin(), solver->image().end());
  }
  EXPECT_EQ(images[0], images[1]);
}

TEST_P(EverySolver, GoesOnFromItsStateWithTheSameBits) {
  Problem problem = random_problem();
  const SolverOptions options{.penalty = 1.0};
  const auto whole = GetParam()(problem.least_squares(), options);
  whole->begin();
  static_cast<void>(iterate(*whole, 25));
  const auto first = GetParam()(problem.least_squares(), options);
  first->begin();
  static_cast<void>(iterate(*first, 11));
  const auto second = GetParam()(problem.least_squares(), options);
  const Solver::State from = first->state();
  const Solver::State to = second->state();
  for (std::size_t k = 0; k < from.vectors.size(); ++k) std::ranges::copy(from.vectors[k].values, to.vectors[k].values.begin());
  for (std::size_t k = 0; k < from.numbers.size(); ++k) *to.numbers[k].value = *from.numbers[k].value;
  static_cast<void>(iterate(*second, 14));
  EXPECT_TRUE(std::ranges::equal(second->image(), whole->image()));
}

INSTANTIATE_TEST_SUITE_P(All, EverySolver,
                         testing::Values(make_conjugate_gradients, make_lsqr, make_fista, make_total_variation));

struct Ended {
  RunEnd end;
  SolverProgress progress;
};
Ended run(Problem& problem, const StoppingRules& rules, const RunHooks& hooks = {}) {
  const auto solver = make_conjugate_gradients(problem.least_squares(), {});
  solver->begin();
  SolverProgress progress;
  const RunEnd end = run_solver(*solver, problem.least_squares(), rules, hooks, progress);
  return {end, progress};
}

TEST(RunSolver, EndsByWhatIsMetFirst) {
  Problem problem = random_problem();
  const Ended all = run(problem, {.iterations = 7});
  EXPECT_EQ(all.end, RunEnd::iterations);
  EXPECT_EQ(all.progress.iterations, 7U);

  double norm = 0.0;
  for (const float value : problem.data) norm += std::pow(static_cast<double>(value), 2);
  norm = std::sqrt(norm);
  const double after_seven = all.progress.last.misfit;
  const Ended tolerant = run(problem, {.iterations = 100, .tolerance = 1.001 * after_seven / norm});
  EXPECT_EQ(tolerant.end, RunEnd::tolerance);
  EXPECT_LE(tolerant.progress.iterations, 7U);
  const Ended noisy = run(problem, {.iterations = 100, .discrepancy = 1.001 * after_seven});
  EXPECT_EQ(noisy.end, RunEnd::discrepancy);
  EXPECT_EQ(noisy.progress.iterations, tolerant.progress.iterations);
  EXPECT_EQ(run(problem, {.iterations = 100, .discrepancy = 1e-9 * after_seven}).end, RunEnd::iterations);
}

TEST(RunSolver, SavesAsOftenAsItIsAskedAndAtTheEnd) {
  Problem problem = random_problem();
  std::vector<std::size_t> saved;
  std::size_t asked = 0;
  RunHooks hooks;
  hooks.save = [&](const SolverProgress& progress) { saved.push_back(progress.iterations); };
  hooks.save_every = 3;
  hooks.interrupted = [&] { return ++asked > 8; };
  EXPECT_EQ(run(problem, {.iterations = 100}, hooks).end, RunEnd::interrupted);
  EXPECT_EQ(saved, (std::vector<std::size_t>{3, 6, 8}));
  saved.clear();
  hooks.interrupted = {};
  EXPECT_EQ(run(problem, {.iterations = 6}, hooks).end, RunEnd::iterations);
  EXPECT_EQ(saved, (std::vector<std::size_t>{3, 6}));
}

}  // namespace
}  // namespace echoform::test
