#include "tests/beamform/direct_sum.hpp"

#include <cmath>

namespace direct {

std::vector<std::complex<double>> image(const Problem& problem) {
  std::vector<std::complex<double>> result(problem.pixels);
  const auto count = static_cast<double>(problem.elements);
  const auto m = static_cast<double>(problem.samples);
  for (std::size_t p = 0; p < problem.pixels; ++p) {
    std::complex<double> sum = 0.0;
    for (std::size_t tx = 0; tx < problem.elements; ++tx) {
      for (std::size_t rx = 0; rx < problem.elements; ++rx) {
        const double tau = problem.transmit_time(tx, p) + problem.receive_time(rx, p);
        if (std::isnan(tau)) continue;
        const double u = (tau - problem.start_time + problem.time_offset) * problem.sample_rate;
        std::complex<double> value = 0.0;
        if (problem.linear) {
          if (!(u >= 0.0 && u < m - 1.0)) continue;
          const double n = std::floor(u);
          const auto k = static_cast<std::size_t>(n);
          value = (1.0 - (u - n)) * problem.sample(tx, rx, k) + (u - n) * problem.sample(tx, rx, k + 1);
        } else {
          const double n = std::floor(u + 0.5);
          if (!(n >= 0.0 && n <= m - 1.0)) continue;
          value = problem.sample(tx, rx, static_cast<std::size_t>(n));
        }
        sum += problem.transmit_weight(tx, p) * problem.receive_weight(rx, p) * value;
      }
    }
    result[p] = sum / (count * count);
  }
  return result;
}

double relative_error(const std::vector<std::complex<float>>& a, const std::vector<std::complex<double>>& b) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::norm(std::complex<double>(a[i]) - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(difference / norm);
}

}  // namespace direct
