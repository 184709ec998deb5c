// Adaptive weights that follow from sums over the channels.
#include <algorithm>
#include <cmath>

#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/adaptive_weights/sums_math.hpp"

namespace echoform::adaptive {
namespace {

/// Sums `energy`, [points] with `half` zeros before and behind, over 2 half + 1 neighbours into its first [points]. Sums of 1, 2,
/// 4 ... neighbours follow from each other. Differences of running sums would leave the rounding of strong points behind in weak
/// ones.
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

template <ChannelSums of>
void factor_over_window(const AdaptiveOptions& options, const PointSums& sums, float* result) {
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
    const float low = of == ChannelSums::low_frequencies ? sums.low[k] : 0.0F;
    const Energies energies = energies_of<of>(sums.sum[k], sums.second[k], low, sums.weight[k]);
    coherent[half + k] = energies.coherent;
    total[half + k] = energies.total;
  }
  sum_over_window(coherent, points, half, work);
  sum_over_window(total, points, half, work);
  for (std::size_t k = 0; k < points; ++k) result[k] = factor_of<of>(ratio_of({coherent[k], total[k]}));
}

}  // namespace

void coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  factor_over_window<ChannelSums::squares>(options, sums, result);
}

void generalised_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  factor_over_window<ChannelSums::low_frequencies>(options, sums, result);
}

void sign_coherence_factor(const AdaptiveOptions& options, const PointSums& sums, float* result) {
  factor_over_window<ChannelSums::signs>(options, sums, result);
}

void f_dmas(const AdaptiveOptions& /*options*/, const PointSums& sums, float* result) {
  for (std::size_t k = 0; k < sums.points; ++k) result[k] = mean_of_pairs(sums.sum[k], sums.second[k], sums.pairs[k]);
}

}  // namespace echoform::adaptive
