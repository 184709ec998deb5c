// A spectrum at evenly spaced frequencies of any distance, by Bluestein's chirp transform.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace echoform {

/// sum over n of numbers[n] exp(-2 pi i n k step), for k = 0 ... count - 1; `step` in cycles, 0 <= count * step <= 1. Exact
/// to 1e-8 of the sum of the absolute values, for up to 4096 numbers. Blocks of some thousand frequencies go through FFTW.
/// Throws RuntimeFault if there is no memory, and PlanningEnded (base/planning.hpp) between two blocks.
[[nodiscard]] std::vector<std::complex<double>> chirp_sums(std::span<const std::complex<double>> numbers, double step,
                                                           std::size_t count);

}  // namespace echoform
