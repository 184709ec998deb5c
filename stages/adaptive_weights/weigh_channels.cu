#include "stages/adaptive_weights/weigh_channels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/cuda_check.hpp"
#include "stages/adaptive_weights/block_team.cuh"
#include "stages/adaptive_weights/channels_math.hpp"

// A block determines which channels its point receives and brings their window into shared memory where that is small enough.
// Then, as a team, it does the work of one thread of the CPU (channels_math.hpp).
namespace echoform::gpu {
namespace {

/// The maximum bytes of a window in shared memory; longer windows are read through the caches.
constexpr std::size_t most_gathered = 20 << 10;

/// Pieces of a block's shared memory, in bytes from its beginning.
struct ChannelsLayout {
  std::size_t window = 0;  // behind Capon's matrix, if that is in shared memory
  std::size_t weights = 0;
  std::size_t roots = 0;
  std::size_t heard = 0;
  std::size_t bytes = 0;
};

std::size_t window_bytes(const ChannelWeighing& w) {
  if (w.kind == AdaptiveOnCuda::phase_coherence) return 0;  // it needs the point alone
  const std::size_t bytes = (2 * std::size_t{w.half_window} + 1) * w.pitch * (w.complex ? 2 : 1) * sizeof(float);
  return bytes <= most_gathered ? bytes : 0;
}
ChannelsLayout layout_of(const ChannelWeighing& w) {
  ChannelsLayout layout;
  const bool matrix = w.kind == AdaptiveOnCuda::capon && w.workspace == nullptr;
  layout.window = matrix ? capon_matrix_bytes(w.part, w.pitch) : 0;
  layout.weights = layout.window + window_bytes(w);
  layout.roots = layout.weights + w.pitch * sizeof(float);
  layout.heard = layout.roots + (w.kind == AdaptiveOnCuda::short_lag ? w.pitch * sizeof(float) : 0);
  layout.bytes = layout.heard + w.pitch * sizeof(std::uint16_t);
  return layout;
}

template <bool is_complex>
using Value = std::conditional_t<is_complex, float2, float>;

/// The channels that a point receives.
template <bool is_complex, bool gathered>
struct HeardChannels {
  static constexpr bool complex = is_complex;
  const Value<is_complex>* values;  // values of the window: [point, channel of weight > 0], or in their order in device memory
  std::uint32_t pitch;
  const std::uint16_t* heard;
  const float* weights;

  [[nodiscard]] __device__ float weight(unsigned n) const { return weights[n]; }
  [[nodiscard]] __device__ Value<is_complex> at(unsigned k, unsigned n) const {
    return values[std::size_t{k} * pitch + (gathered ? n : heard[n])];
  }
  [[nodiscard]] __device__ float real(unsigned k, unsigned n) const {
    if constexpr (is_complex) {
      return at(k, n).x;
    } else {
      return at(k, n);
    }
  }
  [[nodiscard]] __device__ float imaginary(unsigned k, unsigned n) const {
    if constexpr (is_complex) {
      return at(k, n).y;
    } else {
      return 0.0F;
    }
  }
};

/// The first warp lists the channels of weight above 0. All threads get the number of these.
__device__ __forceinline__ unsigned find_heard(const float* from, std::uint32_t pitch, std::uint16_t* heard, float* weights) {
  __shared__ unsigned found;
  if (threadIdx.x < 32) {
    unsigned count = 0;
    for (unsigned n = threadIdx.x; n < pitch; n += 32) {
      const float weight = from[n];
      const unsigned those = __ballot_sync(0xFFFFFFFFU, weight > 0.0F);
      const unsigned at = count + __popc(those & ((1U << threadIdx.x) - 1));
      if (weight > 0.0F) {
        heard[at] = static_cast<std::uint16_t>(n);
        weights[at] = weight;
      }
      count += __popc(those);
    }
    if (threadIdx.x == 0) found = count;
  }
  __syncthreads();
  return found;
}

/// The result for a point: its parts, and the weighted sum of its channels.
struct PointResult {
  float real = 0.0F;
  float imaginary = 0.0F;
};

template <AdaptiveOnCuda kind, bool complex, bool gathered, unsigned threads>
__device__ __forceinline__ PointResult weigh_point(const ChannelWeighing& w, const ChannelsLayout& layout, char* shared,
                                                   std::uint32_t line, std::uint32_t point) {
  const BlockTeam<threads> team;
  auto* const heard = reinterpret_cast<std::uint16_t*>(shared + layout.heard);
  auto* const weights = reinterpret_cast<float*>(shared + layout.weights);
  const std::size_t begin = std::size_t{line} * w.points;
  const unsigned count = find_heard(w.weights + (begin + point) * w.pitch, w.pitch, heard, weights);
  if (count == 0) return {};
  const std::uint32_t first = point - min(point, w.half_window);
  const unsigned points = min(w.points - 1, point + w.half_window) + 1 - first;
  const unsigned centre = point - first;
  const auto* const from = reinterpret_cast<const Value<complex>*>(w.channels) + (begin + first) * w.pitch;
  HeardChannels<complex, gathered> channels{from, w.pitch, heard, weights};
  if constexpr (gathered) {
    auto* const window = reinterpret_cast<Value<complex>*>(shared + layout.window);
    for (unsigned k = 0; k < points; ++k) {
      for (unsigned n = threadIdx.x; n < count; n += threads) window[k * count + n] = from[std::size_t{k} * w.pitch + heard[n]];
    }
    team.sync();
    channels.values = window;
    channels.pitch = count;
  }
  PointResult sum;
  float all = 0.0F;
  for (unsigned n = threadIdx.x; n < count; n += threads) {
    sum.real = fmaf(weights[n], channels.real(centre, n), sum.real);
    sum.imaginary = fmaf(weights[n], channels.imaginary(centre, n), sum.imaginary);
    all += weights[n];
  }
  const float scale = w.divisor != nullptr ? w.divisor[line * w.divisor_pitch + point] : w.scale;
  if constexpr (kind == AdaptiveOnCuda::phase_coherence) {
    const float factor = scale * adaptive::phase_coherence(channels, count, centre, w.part, team);
    return {factor * team.sum(sum.real), factor * team.sum(sum.imaginary)};
  } else if constexpr (kind == AdaptiveOnCuda::short_lag) {
    auto* const roots = reinterpret_cast<float*>(shared + layout.roots);
    return {adaptive::short_lag_coherence(channels, count, points, w.part, roots, team), 0.0F};
  } else {
    const std::size_t numbers = adaptive::capon_numbers(adaptive::subarray_of(w.part, w.pitch));
    auto* const matrix = layout.window != 0 ? reinterpret_cast<adaptive::DoubleComplex*>(shared)
                                            : static_cast<adaptive::DoubleComplex*>(w.workspace) + blockIdx.x * numbers;
    const adaptive::DoubleComplex mean =
        adaptive::capon_mean(channels, count, points, centre, adaptive::subarray_of(w.part, count), w.loading, matrix, team);
    const float times = w.by_weight ? w.scale * team.sum(all) : 1.0F;
    return {times * static_cast<float>(mean.real), times * static_cast<float>(mean.imaginary)};
  }
}

template <AdaptiveOnCuda kind, bool complex, bool gathered, unsigned threads>
__global__ void __launch_bounds__(threads) weigh_channels(const __grid_constant__ ChannelWeighing w, ChannelsLayout layout) {
  extern __shared__ double2 shared_numbers[];
  const std::size_t points = std::size_t{w.lines} * w.points;
  for (std::size_t n = blockIdx.x; n < points; n += gridDim.x) {
    const auto line = static_cast<std::uint32_t>(n / w.points);
    const auto point = static_cast<std::uint32_t>(n - std::size_t{line} * w.points);
    const PointResult result =
        weigh_point<kind, complex, gathered, threads>(w, layout, reinterpret_cast<char*>(shared_numbers), line, point);
    if (threadIdx.x == 0) {
      const std::size_t at = line * w.out_line + point * w.out_point;
      if (w.complex_out) {
        reinterpret_cast<float2*>(w.out)[at] = {result.real, result.imaginary};
      } else {
        w.out[at] = result.real;
      }
    }
    __syncthreads();
  }
}

using Kernel = void (*)(ChannelWeighing, ChannelsLayout);

/// Calls `use` with the kernel and its number of threads.
template <class Use>
void with_kernel(const ChannelWeighing& w, const Use& use) {
  const bool gathered = window_bytes(w) != 0;
  switch (w.kind) {
    case AdaptiveOnCuda::phase_coherence:
      return use(&weigh_channels<AdaptiveOnCuda::phase_coherence, true, false, 32>, 32U);
    case AdaptiveOnCuda::short_lag:
      if (w.complex) {
        return use(gathered ? &weigh_channels<AdaptiveOnCuda::short_lag, true, true, 64>
                            : &weigh_channels<AdaptiveOnCuda::short_lag, true, false, 64>,
                   64U);
      }
      return use(gathered ? &weigh_channels<AdaptiveOnCuda::short_lag, false, true, 64>
                          : &weigh_channels<AdaptiveOnCuda::short_lag, false, false, 64>,
                 64U);
    case AdaptiveOnCuda::capon:
      return use(gathered ? &weigh_channels<AdaptiveOnCuda::capon, true, true, 64>
                          : &weigh_channels<AdaptiveOnCuda::capon, true, false, 64>,
                 64U);
    case AdaptiveOnCuda::none:
    case AdaptiveOnCuda::sums:
      return;
  }
}

}  // namespace

ChannelWeighing channel_weighing(const AdaptiveOptions& options) {
  const AdaptiveKind& kind = adaptive_kind(options.kind, "adaptive weights");
  ChannelWeighing w;
  w.kind = kind.on_cuda;
  w.complex = kind.analytic;
  w.half_window = static_cast<std::uint32_t>(options.half_window);
  w.part = kind.on_cuda == AdaptiveOnCuda::phase_coherence ? options.sensitivity
           : kind.on_cuda == AdaptiveOnCuda::short_lag     ? options.short_lag
                                                           : options.subarray;
  w.loading = options.loading;
  return w;
}

std::size_t weighing_workspace_bytes(const ChannelWeighing& w) {
  if (w.kind != AdaptiveOnCuda::capon) return 0;
  ChannelWeighing in_shared = w;
  in_shared.workspace = nullptr;
  int device = 0;
  int most = 0;
  ECHOFORM_CUDA(cudaGetDevice(&device));
  ECHOFORM_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  // Part of the shared memory is reserved for the kernel itself.
  const bool fits = layout_of(in_shared).bytes + 1024 <= static_cast<std::size_t>(most);
  return fits && has_shared_matrix(w.part, w.pitch) ? 0 : blocks_with_workspace * capon_matrix_bytes(w.part, w.pitch);
}

void prepare_weigh_channels(const ChannelWeighing& w) {
  with_kernel(w, [&](Kernel kernel, unsigned /*threads*/) {
    const auto bytes = static_cast<int>(layout_of(w).bytes);
    ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  });
}

void launch_weigh_channels(const ChannelWeighing& w, cudaStream_t stream) noexcept {
  with_kernel(w, [&](Kernel kernel, unsigned threads) {
    const std::size_t points = std::size_t{w.lines} * w.points;
    const std::size_t most = w.workspace != nullptr ? blocks_with_workspace : 1U << 30;
    const ChannelsLayout layout = layout_of(w);
    kernel<<<static_cast<unsigned>(std::min(points, most)), threads, layout.bytes, stream>>>(w, layout);
  });
  ECHOFORM_CUDA_LAUNCHED("weigh_channels");
}

}  // namespace echoform::gpu
