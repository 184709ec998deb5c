#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/cuda_check.hpp"
#include "stages/adaptive_weights/sums_math.hpp"
#include "stages/adaptive_weights/windowed_ratio.cuh"
#include "stages/scan_lines/adaptive_line_launch.hpp"
#include "stages/scan_lines/line_facts.cuh"
#include "stages/scan_lines/line_math.hpp"
#include "stages/scan_lines/line_sum_lookup.cuh"

// The sums of a point stay in a thread's registers during the loop over the receivers. A second kernel divides energies, which it
// sums over the axial window in shared memory.
namespace echoform::gpu {
namespace {

using scan_lines::Lookup;
using scan_lines::PlacedReceiver;
using scan_lines::TapTable;

constexpr unsigned threads = 128;

template <Lookup lookup, ChannelSums of>
__global__ void __launch_bounds__(threads) sum_beside(LineSums sums, LineSumsBeside beside, unsigned blocks_of_line) {
  __shared__ TapTable table;
  if constexpr (lookup == Lookup::taps) share_taps(sums.set.taps, table);
  const LineSetOnDevice& set = sums.set;
  const std::uint32_t line = blockIdx.x / blocks_of_line;
  const std::uint32_t k = (blockIdx.x % blocks_of_line) * threads + threadIdx.x;
  if (k >= set.ranges) return;
  const std::size_t point = std::size_t{line} * set.pitch + k;
  const float range = set.range[k];
  const std::int32_t whole = set.whole[point];
  const float rest = set.rest[point];
  const float* const rows = sums.rows + std::size_t{set.first_rows[line]} * sums.row_stride;
  constexpr bool low = of == ChannelSums::low_frequencies;
  adaptive::BesideSums<of> sum;
  adaptive::LowFrequencies frequencies(low ? beside.low_frequencies : 0, low ? beside.cosine[point] : 1.0F);
  const std::uint32_t end = set.first_receivers[line + 1];
  for (std::uint32_t j = set.first_receivers[line]; j < end; ++j) {
    const PlacedReceiver receiver = set.receivers[j];
    const float weight = __ldg(set.weights + std::size_t{receiver.weights} * set.ranges + k);
    if (!(weight > 0.0F)) continue;
    const float longer = scan_lines::longer_way_to(range, receiver.along, receiver.square, receiver.across_square);
    const float* const row = rows + std::size_t{receiver.row} * sums.row_stride;
    const float value = value_at<lookup, false>(row, sums.samples, whole, rest + longer, table).re;
    sum.add(value, weight);
    if constexpr (low) frequencies.add(value);
  }
  beside.sum[point] = sum.sum;
  beside.second[point] = sum.second;
  if constexpr (low) beside.low[point] = frequencies.energy(static_cast<unsigned>(beside.weight[point]));
}

template <ChannelSums of>
__global__ void __launch_bounds__(window_threads) weigh_lines(LineSums sums, LineSumsBeside beside, unsigned blocks_of_line) {
  const LineSetOnDevice& set = sums.set;
  const std::uint32_t line = blockIdx.x / blocks_of_line;
  const std::uint32_t first = (blockIdx.x % blocks_of_line) * window_threads;
  const std::uint32_t k = first + threadIdx.x;
  const std::size_t begin = std::size_t{line} * set.pitch;
  const std::size_t point = begin + k;
  const bool there = k < set.ranges;
  float value = 0.0F;
  if constexpr (of == ChannelSums::roots) {
    if (there) {
      value = adaptive::mean_of_pairs(beside.sum[point], beside.second[point], beside.pairs[point]);
      if (beside.by_weight) value *= beside.weight[point];
    }
  } else {
    const float ratio = windowed_ratio(first, set.ranges, beside.half_window, [&](std::uint32_t n) {
      const std::size_t at = begin + n;
      const float low = of == ChannelSums::low_frequencies ? beside.low[at] : 0.0F;
      return adaptive::energies_of<of>(beside.sum[at], beside.second[at], low, beside.weight[at]);
    });
    if (there) value = beside.sum[point] * set.turn_re[point] * adaptive::factor_of<of>(ratio);
  }
  if (k < sums.out_stride) sums.out[line * sums.out_stride + k] = value;
  report_lines(sums.facts, __float_as_uint(fabsf(value)), 0, gridDim.x);
}

/// Calls `use` with the kind of sums as a constant.
template <class Use>
void with_sums(ChannelSums sums, const Use& use) {
  switch (sums) {
    case ChannelSums::squares:
      return use(std::integral_constant<ChannelSums, ChannelSums::squares>{});
    case ChannelSums::signs:
      return use(std::integral_constant<ChannelSums, ChannelSums::signs>{});
    case ChannelSums::roots:
      return use(std::integral_constant<ChannelSums, ChannelSums::roots>{});
    case ChannelSums::low_frequencies:
      return use(std::integral_constant<ChannelSums, ChannelSums::low_frequencies>{});
    case ChannelSums::none:
    case ChannelSums::channels:
      return;
  }
}

}  // namespace

void launch_sums_beside(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept {
  const unsigned blocks_of_line = (sums.set.ranges + threads - 1) / threads;
  const unsigned blocks = blocks_of_line * sums.set.lines;
  with_sums(beside.sums, [&](auto of) {
    switch (sums.lookup) {
      case Lookup::nearest:
        sum_beside<Lookup::nearest, of.value><<<blocks, threads, 0, stream>>>(sums, beside, blocks_of_line);
        break;
      case Lookup::linear:
        sum_beside<Lookup::linear, of.value><<<blocks, threads, 0, stream>>>(sums, beside, blocks_of_line);
        break;
      case Lookup::taps:
        sum_beside<Lookup::taps, of.value><<<blocks, threads, 0, stream>>>(sums, beside, blocks_of_line);
        break;
      case Lookup::phases:  // for rows that were made dense, which only the CPU does
        break;
    }
  });
  ECHOFORM_CUDA_LAUNCHED("sum_beside");
}

void launch_weighed_lines(const LineSums& sums, const LineSumsBeside& beside, cudaStream_t stream) noexcept {
  const auto blocks_of_line = static_cast<unsigned>((sums.out_stride + window_threads - 1) / window_threads);
  with_sums(beside.sums, [&](auto of) {
    weigh_lines<of.value><<<blocks_of_line * sums.set.lines, window_threads, 0, stream>>>(sums, beside, blocks_of_line);
  });
  ECHOFORM_CUDA_LAUNCHED("weigh_lines");
}

}  // namespace echoform::gpu
