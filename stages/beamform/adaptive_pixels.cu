#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/cuda_check.hpp"
#include "stages/adaptive_weights/sums_math.hpp"
#include "stages/adaptive_weights/windowed_ratio.cuh"
#include "stages/beamform/adaptive_pixels_launch.hpp"

// Threads of a warp have consecutive pixels of a column, in the order of the tables of delays, and each thread goes through the
// receivers and their rows. Samples are looked up in device memory; the lookups of a warp share lines of the caches.
namespace echoform::gpu {
namespace {

constexpr unsigned pixel_threads = 128;

/// The signal of a receiver at a pixel.
template <bool nearest>
__device__ __forceinline__ float2 heard_at(const PixelSumming& at, std::uint32_t column, std::uint32_t place,
                                           std::uint32_t receiver, std::uint32_t k) {
  const std::size_t heard = std::size_t{column} * at.receive.sources + receiver;
  const std::int32_t base = __ldg(at.receive.base + heard);
  const float back = __ldg(at.receive.offset + heard * at.points + k);
  const auto* const rows = static_cast<const float2*>(at.rows);
  float2 sum{0.0F, 0.0F};
  const std::uint32_t end = at.first_lookups[place + 1];
  for (std::uint32_t n = at.first_lookups[place]; n < end; ++n) {
    const PixelLookup lookup = at.lookups[n];
    const std::size_t sent = std::size_t{column} * at.transmit.sources + lookup.source;
    const float weight = __ldg(at.transmit.weight + sent * at.points + k);
    if (weight == 0.0F) continue;
    const float beyond = __ldg(at.transmit.offset + sent * at.points + k) + back;
    const float below = floorf(nearest ? beyond + 0.5F : beyond);
    const std::int32_t sample = base + __ldg(at.transmit.base + sent) + static_cast<std::int32_t>(below);
    if (sample < 0 || sample >= at.samples - (nearest ? 0 : 1)) continue;
    const float2* const row = rows + lookup.row * at.row_stride + sample;
    float2 value = __ldg(row);
    if constexpr (!nearest) {
      const float2 next = __ldg(row + 1);
      const float part = beyond - below;
      value = {fmaf(part, next.x - value.x, value.x), fmaf(part, next.y - value.y, value.y)};
    }
    sum = {fmaf(weight, value.x, sum.x), fmaf(weight, value.y, sum.y)};
  }
  return sum;
}

__device__ __forceinline__ float receiver_weight(const PixelSumming& at, std::uint32_t column, std::uint32_t receiver,
                                                 std::uint32_t k) {
  return __ldg(at.receive.weight + (std::size_t{column} * at.receive.sources + receiver) * at.points + k);
}

template <ChannelSums of, bool nearest>
__global__ void __launch_bounds__(pixel_threads)
    sum_pixels(const __grid_constant__ PixelSumming at, PixelWeighing to, unsigned blocks_of_column) {
  const std::uint32_t column = blockIdx.x / blocks_of_column;
  const std::uint32_t k = (blockIdx.x % blocks_of_column) * pixel_threads + threadIdx.x;
  if (k >= at.points) return;
  unsigned heard = 0;
  float cosine = 1.0F;
  if constexpr (of == ChannelSums::low_frequencies) {
    for (std::uint32_t place = 0; place < at.receiver_count; ++place) {
      if (receiver_weight(at, column, at.receivers[place], k) > 0.0F) ++heard;
    }
    if (heard > 0) cosine = cospif(2.0F / static_cast<float>(heard));
  }
  adaptive::ComplexSums<of> sums(to.low_frequencies, heard, cosine);
  for (std::uint32_t place = 0; place < at.receiver_count; ++place) {
    const std::uint32_t receiver = at.receivers[place];
    const float weight = receiver_weight(at, column, receiver, k);
    if (!(weight > 0.0F)) continue;
    const float2 value = heard_at<nearest>(at, column, place, receiver, k);
    sums.add(value.x, value.y, weight);
  }
  const std::size_t pixel = std::size_t{column} * at.points + k;
  static_cast<float2*>(to.sum)[pixel] = {sums.real, sums.imaginary};
  static_cast<adaptive::Energies*>(to.energies)[pixel] = sums.energies();
}

template <ChannelSums of>
__global__ void __launch_bounds__(window_threads)
    weigh_pixels(const __grid_constant__ PixelSumming at, PixelWeighing to, unsigned blocks_of_column) {
  const std::uint32_t column = blockIdx.x / blocks_of_column;
  const std::uint32_t first = (blockIdx.x % blocks_of_column) * window_threads;
  const auto* const energies = static_cast<const adaptive::Energies*>(to.energies) + std::size_t{column} * at.points;
  const float ratio = windowed_ratio(first, at.points, to.half_window, [&](std::uint32_t n) { return energies[n]; });
  const std::uint32_t k = first + threadIdx.x;
  if (k >= at.points) return;
  const float factor = to.scale * adaptive::factor_of<of>(ratio);
  const float2 sum = static_cast<const float2*>(to.sum)[std::size_t{column} * at.points + k];
  static_cast<float2*>(to.image)[std::size_t{k} * at.columns + column] = {factor * sum.x, factor * sum.y};
}

constexpr unsigned side = 32;
constexpr unsigned rows_at_once = 8;

/// Sums are made with the pixels side by side and written with the receivers side by side. Blocks of 32 x 32 are transposed in
/// shared memory.
template <bool nearest>
__global__ void __launch_bounds__(side* rows_at_once)
    keep_channels(const __grid_constant__ PixelSumming at, PixelChannels to, unsigned blocks_of_column) {
  __shared__ float2 values[side][side + 1];
  __shared__ float weights[side][side + 1];
  const unsigned column_of_chunk = blockIdx.x / blocks_of_column;
  const std::uint32_t column = to.first_column + column_of_chunk;
  const std::uint32_t first = (blockIdx.x % blocks_of_column) * side;
  const unsigned lane = threadIdx.x % side;
  const std::uint32_t k = min(first + lane, at.points - 1);
  for (std::uint32_t begin = 0; begin < to.pitch; begin += side) {
    for (unsigned n = threadIdx.x / side; n < side; n += rows_at_once) {
      const bool there = begin + n < at.receiver_count;
      const std::uint32_t receiver = there ? at.receivers[begin + n] : 0;
      const float weight = there ? receiver_weight(at, column, receiver, k) : 0.0F;
      values[n][lane] = weight > 0.0F ? heard_at<nearest>(at, column, begin + n, receiver, k) : float2{0.0F, 0.0F};
      weights[n][lane] = weight;
    }
    __syncthreads();
    for (unsigned n = threadIdx.x / side; n < side && first + n < at.points; n += rows_at_once) {
      const std::size_t place = (std::size_t{column_of_chunk} * at.points + first + n) * to.pitch + begin + lane;
      static_cast<float2*>(to.values)[place] = values[lane][n];
      to.weights[place] = weights[lane][n];
    }
    __syncthreads();
  }
}

template <ChannelSums of>
void weigh(const PixelSumming& at, const PixelWeighing& to, cudaStream_t stream) {
  const unsigned blocks_of_column = (at.points + pixel_threads - 1) / pixel_threads;
  const unsigned blocks = blocks_of_column * at.columns;
  if (at.nearest) {
    sum_pixels<of, true><<<blocks, pixel_threads, 0, stream>>>(at, to, blocks_of_column);
  } else {
    sum_pixels<of, false><<<blocks, pixel_threads, 0, stream>>>(at, to, blocks_of_column);
  }
  ECHOFORM_CUDA_LAUNCHED("sum_pixels");
  const unsigned windows = (at.points + window_threads - 1) / window_threads;
  weigh_pixels<of><<<windows * at.columns, window_threads, 0, stream>>>(at, to, windows);
  ECHOFORM_CUDA_LAUNCHED("weigh_pixels");
}

}  // namespace

void launch_weigh_pixels(const PixelSumming& summing, const PixelWeighing& weighing, cudaStream_t stream) noexcept {
  switch (weighing.sums) {
    case ChannelSums::squares:
      return weigh<ChannelSums::squares>(summing, weighing, stream);
    case ChannelSums::signs:
      return weigh<ChannelSums::signs>(summing, weighing, stream);
    case ChannelSums::low_frequencies:
      return weigh<ChannelSums::low_frequencies>(summing, weighing, stream);
    case ChannelSums::none:
    case ChannelSums::roots:
    case ChannelSums::channels:
      return;
  }
}

void launch_pixel_channels(const PixelSumming& summing, const PixelChannels& to, cudaStream_t stream) noexcept {
  const unsigned blocks_of_column = (summing.points + side - 1) / side;
  const unsigned blocks = blocks_of_column * to.columns;
  if (summing.nearest) {
    keep_channels<true><<<blocks, side * rows_at_once, 0, stream>>>(summing, to, blocks_of_column);
  } else {
    keep_channels<false><<<blocks, side * rows_at_once, 0, stream>>>(summing, to, blocks_of_column);
  }
  ECHOFORM_CUDA_LAUNCHED("keep_channels");
}

}  // namespace echoform::gpu
