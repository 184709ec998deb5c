// The loops of interpolated_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#include <cstring>

#include "operators/interpolated_kernels.hpp"

namespace echoform::interpolated {
namespace {

using PairOfFloats = float __attribute__((vector_size(8)));
using FourFloats = float __attribute__((vector_size(16)));

/// Samples of a batch: which voxel lies before each, and how far along x, y, z it is to the next.
struct Samples {
  alignas(64) std::int32_t x[batch];
  alignas(64) std::int32_t y[batch];
  alignas(64) std::int32_t z[batch];
  alignas(64) float fraction_x[batch];
  alignas(64) float fraction_y[batch];
  alignas(64) float fraction_z[batch];
  alignas(64) std::int32_t within[batch];
};

void place(const RingTask& task, std::int32_t first, Samples& samples) {
  const Ring ring = task.ring;
  const float inverse = 1.0F / static_cast<float>(ring.count);
  const float low_x = task.low[0];
  const float low_y = task.low[1];
  const float low_z = task.low[2];
  const float high_x = task.high[0];
  const float high_y = task.high[1];
  const float high_z = task.high[2];
  for (std::int32_t k = 0; k < batch; ++k) {
    const OnCircle at = on_circle(first + k, ring.count, inverse);
    const float x = on_ring(ring, 0, at);
    const float y = on_ring(ring, 1, at);
    const float z = on_ring(ring, 2, at);
    const int within = (x >= low_x) & (x < high_x) & (y >= low_y) & (y < high_y) & (z >= low_z) & (z < high_z);
    const float inside_x = within != 0 ? x : 0.0F;
    const float inside_y = within != 0 ? y : 0.0F;
    const float inside_z = within != 0 ? z : 0.0F;
    const auto ix = static_cast<std::int32_t>(inside_x);
    const auto iy = static_cast<std::int32_t>(inside_y);
    const auto iz = static_cast<std::int32_t>(inside_z);
    samples.x[k] = ix;
    samples.y[k] = iy;
    samples.z[k] = iz;
    samples.fraction_x[k] = inside_x - static_cast<float>(ix);
    samples.fraction_y[k] = inside_y - static_cast<float>(iy);
    samples.fraction_z[k] = inside_z - static_cast<float>(iz);
    samples.within[k] = within;
  }
}

/// Calls body(samples, k) for every sample within, in their order.
template <class Body>
[[gnu::always_inline]] inline void for_each_sample(const RingTask& task, const Body& body) {
  Samples samples;
  std::uint64_t bits = task.pieces.bits;
  while (bits != 0) {
    const std::int32_t begin = __builtin_ctzll(bits) * task.pieces.piece;
    bits &= bits - 1;
    const std::int32_t piece_end = begin + task.pieces.piece;
    const std::int32_t end = piece_end < task.ring.count ? piece_end : task.ring.count;
    for (std::int32_t first = begin; first < end; first += batch) {
      place(task, first, samples);
      const std::int32_t count = end - first < batch ? end - first : batch;
      for (std::int32_t k = 0; k < count; ++k) {
        if (samples.within[k] != 0) body(samples, k);
      }
    }
  }
}

/// Weights of (y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1).
[[gnu::always_inline]] inline FourFloats weights_of(const Samples& samples, std::int32_t k) {
  const float x = samples.fraction_x[k];
  const float y = samples.fraction_y[k];
  const FourFloats along_x = FourFloats{1.0F, 0.0F, 1.0F, 0.0F} + FourFloats{x, x, x, x} * FourFloats{-1.0F, 1.0F, -1.0F, 1.0F};
  const FourFloats along_y = FourFloats{1.0F, 1.0F, 0.0F, 0.0F} + FourFloats{y, y, y, y} * FourFloats{-1.0F, -1.0F, 1.0F, 1.0F};
  return along_x * along_y;
}

[[gnu::always_inline]] inline FourFloats load_cell(const float* at, std::size_t row) {
  PairOfFloats below;
  PairOfFloats above;
  std::memcpy(&below, at, sizeof(below));
  std::memcpy(&above, at + row, sizeof(above));
  return __builtin_shufflevector(below, above, 0, 1, 2, 3);
}

[[gnu::always_inline]] inline std::size_t index_of(const RingTask& task, const Samples& samples, std::int32_t k) {
  return static_cast<std::size_t>(samples.z[k]) * task.plane + static_cast<std::size_t>(samples.y[k]) * task.row +
         static_cast<std::size_t>(samples.x[k]);
}

double gather_ring(const RingTask& task, const float* image) {
  FourFloats lower = {};
  FourFloats upper = {};
  for_each_sample(task, [&](const Samples& samples, std::int32_t k) {
    const float* const cell = image + index_of(task, samples, k);
    const FourFloats weights = weights_of(samples, k);
    const float z = samples.fraction_z[k];
    const float rest = 1.0F - z;
    lower += weights * FourFloats{rest, rest, rest, rest} * load_cell(cell, task.row);
    upper += weights * FourFloats{z, z, z, z} * load_cell(cell + task.plane, task.row);
  });
  double sum = 0.0;
  for (int n = 0; n < 4; ++n) sum += static_cast<double>(lower[n]) + static_cast<double>(upper[n]);
  return sum;
}

[[gnu::always_inline]] inline void add_cell(const FourFloats& shares, std::size_t row, float* at) {
  at[0] += shares[0];
  at[1] += shares[1];
  at[row] += shares[2];
  at[row + 1] += shares[3];
}

void scatter_ring(const RingTask& task, float value, float* image, std::int32_t first, std::int32_t last) {
  const FourFloats values = {value, value, value, value};
  for_each_sample(task, [&](const Samples& samples, std::int32_t k) {
    float* const cell = image + index_of(task, samples, k);
    const FourFloats weights = weights_of(samples, k);
    const float z = samples.fraction_z[k];
    const float rest = 1.0F - z;
    const std::int32_t plane = samples.z[k];
    if (plane >= first) add_cell(weights * FourFloats{rest, rest, rest, rest} * values, task.row, cell);
    if (plane + 1 < last) add_cell(weights * FourFloats{z, z, z, z} * values, task.row, cell + task.plane);
  });
}

}  // namespace
}  // namespace echoform::interpolated
