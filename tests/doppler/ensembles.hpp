// Ensembles of complex samples, and plain sums over them in double precision.
#pragma once

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "tests/stages/stage_harness.hpp"

namespace echoform::test {

using Sample = std::complex<double>;

/// [line][n][range].
struct Ensembles {
  std::size_t lines = 0;
  std::size_t ensemble = 0;
  std::size_t ranges = 0;
  std::vector<Sample> samples = std::vector<Sample>(lines * ensemble * ranges);

  [[nodiscard]] Sample& at(std::size_t line, std::size_t n, std::size_t range) {
    return samples[(line * ensemble + n) * ranges + range];
  }
  [[nodiscard]] const Sample& at(std::size_t line, std::size_t n, std::size_t range) const {
    return samples[(line * ensemble + n) * ranges + range];
  }
};

inline Ensembles random_ensembles(std::size_t lines, std::size_t ensemble, std::size_t ranges, unsigned seed) {
  Ensembles all{lines, ensemble, ranges};
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  // As single precision holds them.
  const auto draw = [&] { return static_cast<double>(static_cast<float>(normal(engine))); };
  for (Sample& sample : all.samples) sample = {draw(), draw()};
  return all;
}

inline BlockSpec spec_of(const Ensembles& all, ElementType type, std::size_t row_stride) {
  return make_spec(type, all.lines * all.ensemble, all.ranges, row_stride);
}

inline TestBlock block_of(const Ensembles& all, const BlockSpec& spec) {
  TestBlock block(spec);
  const bool planar = spec.type == ElementType::planar_complex64;
  const std::size_t stride = stride_of(spec);
  for (std::size_t row = 0; row < spec.rows; ++row) {
    for (std::size_t k = 0; k < all.ranges; ++k) {
      const Sample& sample = all.samples[row * all.ranges + k];
      float* const re = block.as<float>() + 2 * row * stride + (planar ? k : 2 * k);
      re[0] = static_cast<float>(sample.real());
      re[planar ? stride : 1] = static_cast<float>(sample.imag());
    }
  }
  return block;
}

/// The ensembles of a result of complex numbers, interleaved or planar.
inline Ensembles ensembles_of(const StageResult& result, std::size_t ensemble) {
  Ensembles all{result.spec.rows / ensemble, ensemble, result.spec.columns};
  const bool planar = result.spec.type == ElementType::planar_complex64;
  for (std::size_t row = 0; row < result.spec.rows; ++row) {
    for (std::size_t k = 0; k < all.ranges; ++k) {
      const float* const re = result.block->as<float>() + 2 * row * result.spec.row_stride + (planar ? k : 2 * k);
      all.samples[row * all.ranges + k] = {re[0], re[planar ? result.spec.row_stride : 1]};
    }
  }
  return all;
}

}  // namespace echoform::test
