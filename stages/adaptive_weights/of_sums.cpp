// Adaptive weights that follow from sums over the channels.
#include <algorithm>
#include <cmath>

#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::adaptive {
namespace {

/// Sums of `energy`, [points] with `half` zeros before and behind, over 2 half + 1 neighbours, into its first [points]. Sums of
/// 1, 2, 4 ... neighbours come one from the other; no differences of running sums, which would leave the rounding of strong
/// points behind in weak ones.
void sum_over_window(float* energy, std::size_t points, std::size_t half, float* sums) {
  if (half == 0) return;
  const std::size_t length = 2 * half + 1;
  std::size_t padded = points + 2 * half;
  std::fill_n(sums, points, 0.0F);
  std::size_t offset = 0;
  for (std::size_t width = 1; width <= length; width *= 2) {
    if ((length & width) != 0) {
      for (std::size_t k = 0; k < points; ++k) sums[k] += energy[k + offset];
      offset += width;
    }
    if (2 * width > length) break;
    padded -= width;
    for (std::size_t k = 0; k < padded; ++k) energy[k] += energy[k + width];
  }
  std::copy_n(sums, points, energy);
}

/// coherent(k) over total(k), each summed over the window.
template <class Coherent, class Total>
void ratio_of_energies(const AdaptiveOptions& options, const PointSums& sums, float* result, const Coherent& coherent_at,
                       const Total& total_at) {
  const std::size_t points = sums.points;
  const std::size_t half = options.half_window;
  float* const coherent = sums.workspace;
  float* const total = coherent + points + 2 * half;
  float* const work = total + points + 2 * half;
  for (float* const energy : {coherent, total}) {
    std::fill_n(energy, half, 0.0F);
    std::fill_n(energy + half + points, half, 0.0F);
  }
  for (std::size_t k = 0; k < points; ++k) {
    coherent[half + k] = coherent_at(k);
    total[half + k] = total_at(k);
  }
  sum_over_window(coherent, points, half, work);
  sum_over_window(total, points, half, work);
  // Rounding alone takes it above 1.
  for (std::size_t k = 0; k < points; ++k) {
    const float ratio = coherent[k] / (total[k] > 0.0F ? total[k] : 1.0F);
    result[k] = total[k] > 0.0F ? std::min(ratio, 1.0F) : 0.0F;
  }
}

}  // namespace

void coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  ratio_of_energies(
      options, sums, result, [&](std::size_t k) { return sums.sum[k] * sums.sum[k]; },
      [&](std::size_t k) { return sums.weight[k] * sums.second[k]; });
}

void generalised_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  ratio_of_energies(
      options, sums, result, [&](std::size_t k) { return sums.low[k]; },
      [&](std::size_t k) { return sums.weight[k] * sums.second[k]; });
}

void sign_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  ratio_of_energies(
      options, sums, result, [&](std::size_t k) { return sums.second[k] * sums.second[k]; },
      [&](std::size_t k) { return sums.weight[k] * sums.weight[k]; });
  // The root is infinitely steep at 0, where rounding of sums over hundreds of channels would show as 1.4e-3.
  constexpr float rounding = 2e-6F;
  for (std::size_t k = 0; k < sums.points; ++k) {
    const float apart = 1.0F - result[k];
    result[k] = 1.0F - (apart > rounding ? std::sqrt(apart) : 0.0F);
  }
}

void f_dmas(const AdaptiveOptions& /*options*/, const PointSums& sums, float* result) {
  for (std::size_t k = 0; k < sums.points; ++k) {
    result[k] = 0.5F * (sums.sum[k] * sums.sum[k] - sums.second[k]) * sums.pairs[k];
  }
}

}  // namespace echoform::adaptive
