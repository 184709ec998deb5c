// The weighted sum of delayed samples, written down from its definition in double precision: every ordered pair, one after
// the other, samples looked up by the sampling convention. It shares nothing with the beamformer.
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <vector>

namespace direct {

struct Problem {
  std::size_t elements = 0;
  std::size_t samples = 0;
  std::size_t pixels = 0;
  double sample_rate = 1.0;
  double start_time = 0.0;
  double time_offset = 0.0;
  bool linear = true;
  /// Sample n of the A-scan (tx, rx), for every ordered pair.
  std::function<std::complex<double>(std::size_t tx, std::size_t rx, std::size_t n)> sample;
  /// Seconds; NaN where there is no path.
  std::function<double(std::size_t element, std::size_t pixel)> transmit_time;
  std::function<double(std::size_t element, std::size_t pixel)> receive_time;
  std::function<double(std::size_t element, std::size_t pixel)> transmit_weight = [](std::size_t, std::size_t) { return 1.0; };
  std::function<double(std::size_t element, std::size_t pixel)> receive_weight = [](std::size_t, std::size_t) { return 1.0; };
};

[[nodiscard]] std::vector<std::complex<double>> image(const Problem& problem);

/// ||a - b|| / ||b||
[[nodiscard]] double relative_error(const std::vector<std::complex<float>>& a, const std::vector<std::complex<double>>& b);

}  // namespace direct
