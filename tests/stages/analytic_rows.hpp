// Rows of analytic signals as numbers, whichever form they have.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/stages/stage_harness.hpp"

namespace echoform::test {

/// One number in half precision.
inline double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return exponent == 31 ? std::numeric_limits<double>::quiet_NaN() : bits >> 15 != 0 ? -size : size;
}

/// A row of the output, whichever form it has.
struct Signal {
  std::vector<double> in_phase;
  std::vector<double> quadrature;
  std::vector<double> in_phase_step;  // to the next sample; half path only
  std::vector<double> quadrature_step;
};

inline double norm(const std::vector<double>& v) {
  double sum = 0.0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

/// 1 / k of the half path: the trailer's first number.
inline float inverse_half_scale(const StageResult& result) {
  return *reinterpret_cast<const float*>(result.block->as<unsigned char>() + result.spec.bytes() - result.spec.trailer);
}

inline Signal signal_of(const StageResult& result, std::size_t row) {
  const std::size_t samples = result.spec.columns;
  Signal signal;
  if (result.spec.type == ElementType::planar_complex64) {
    const float* const i = result.block->as<float>() + 2 * row * result.spec.row_stride;
    const float* const q = i + result.spec.row_stride;
    signal.in_phase.assign(i, i + samples);
    signal.quadrature.assign(q, q + samples);
    return signal;
  }
  const std::size_t first = result.spec.lead + row * result.spec.row_stride;
  for (std::size_t n = 0; n < samples; ++n) {
    if (result.spec.type == ElementType::complex64) {
      const float* const element = result.block->as<float>() + 2 * (first + n);
      signal.in_phase.push_back(element[0]);
      signal.quadrature.push_back(element[1]);
    } else {
      const std::uint16_t* const element = result.block->as<std::uint16_t>() + 4 * (first + n);
      const double size = inverse_half_scale(result);
      signal.in_phase.push_back(size * from_half(element[0]));
      signal.quadrature.push_back(size * from_half(element[1]));
      signal.in_phase_step.push_back(0x1p-14 * size * from_half(element[2]));
      signal.quadrature_step.push_back(0x1p-14 * size * from_half(element[3]));
    }
  }
  return signal;
}

}  // namespace echoform::test
