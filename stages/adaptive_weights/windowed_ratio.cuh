// Energies of neighbouring points, and their ratio over the axial window.
#pragma once

#include <cstdint>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/sums_math.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned window_threads = 256;
constexpr unsigned most_windowed = window_threads + 2 * static_cast<unsigned>(AdaptiveOptions::most_half_window);

/// The ratio at point first + threadIdx.x of a line of `points`: each thread of a block of window_threads computes its own.
/// `energies_at` gives the energies of a point. Differences of running sums would leave the rounding of strong points behind in
/// weak ones.
template <class EnergiesAt>
__device__ __forceinline__ float windowed_ratio(std::uint32_t first, std::uint32_t points, std::uint32_t half,
                                                const EnergiesAt& energies_at) {
  __shared__ adaptive::Energies energies[most_windowed];
  for (unsigned n = threadIdx.x; n < window_threads + 2 * half; n += window_threads) {
    const auto point = static_cast<std::int64_t>(first) + n - half;
    const bool there = point >= 0 && point < points;
    energies[n] = there ? energies_at(static_cast<std::uint32_t>(point)) : adaptive::Energies{};
  }
  __syncthreads();
  adaptive::Energies sum{};
  for (unsigned n = 0; n <= 2 * half; ++n) {
    const adaptive::Energies one = energies[threadIdx.x + n];
    sum.coherent += one.coherent;
    sum.total += one.total;
  }
  return adaptive::ratio_of(sum);
}

}  // namespace
}  // namespace echoform::gpu
