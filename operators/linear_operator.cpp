#include "operators/linear_operator.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace echoform {
namespace {

std::vector<float> drawn(std::size_t count, std::mt19937& generator) {
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = values(generator);
  return numbers;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return sum;
}

}  // namespace

double dot_test(LinearOperator& linear, unsigned seed) {
  std::mt19937 generator(seed);
  const std::vector<float> image = drawn(linear.image_size(), generator);
  const std::vector<float> data = drawn(linear.data_size(), generator);
  std::vector<float> of_image(data.size());
  std::vector<float> of_data(image.size());
  linear.apply(image, of_image);
  linear.adjoint(data, of_data);
  const double norm = std::sqrt(dot(of_image, of_image) * dot(data, data));
  const double difference = std::abs(dot(of_image, data) - dot(image, of_data));
  return norm > 0.0 ? difference / norm : difference;
}

}  // namespace echoform
