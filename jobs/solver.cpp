#include "jobs/solver.hpp"

#include <cmath>
#include <random>

namespace echoform {

double squares_of_rows(const LeastSquares& problem, std::span<const float> values) {
  return problem.communicator.sum_of(problem.math.squares(values));
}

double squares_of_misfit(const LeastSquares& problem, std::span<const float> of_image) {
  const double own = problem.math.sum(of_image.size(), [&](std::size_t first, std::size_t last) {
    double total = 0.0;
    for (std::size_t k = first; k < last; ++k) {
      const double way = static_cast<double>(of_image[k]) - static_cast<double>(problem.data[k]);
      total += way * way;
    }
    return total;
  });
  return problem.communicator.sum_of(own);
}

void end_if_interrupted(const LeastSquares& problem) {
  if (problem.communicator.any(problem.interrupted && problem.interrupted())) throw SolverInterrupted();
}

double largest_eigenvalue(const LeastSquares& problem, const Penalty& penalty) {
  constexpr int steps = 16;
  std::vector<float> image(problem.linear.image_size());
  std::vector<float> next(image.size());
  std::vector<float> rows(problem.linear.data_size());
  std::mt19937 generator(1);
  // The standard library's distributions are not used, because they differ between libraries.
  for (float& value : image) value = static_cast<float>(static_cast<double>(generator()) / 4294967296.0 - 0.5);
  double found = 0.0;
  for (int step = 0; step < steps; ++step) {
    end_if_interrupted(problem);
    const double length = std::sqrt(problem.math.squares(image));
    if (!(length > 0.0)) return 0.0;
    problem.math.scale(image, 1.0 / length);
    problem.linear.apply(image, rows);
    found = squares_of_rows(problem, rows) + penalty.value(image);
    problem.linear.adjoint(rows, next);
    penalty.add_gradient(1.0, image, next);
    image.swap(next);
  }
  return found;
}

}  // namespace echoform
