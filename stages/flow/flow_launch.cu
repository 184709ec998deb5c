#include "stages/element_map.cuh"
#include "stages/flow/flow_launch.hpp"
#include "stages/flow/flow_math.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = gpu::element_map_threads;
static_assert(flow_parts <= threads);

/// The greatest of the values of all threads of a block; every thread gets it.
__device__ __forceinline__ float greatest_of_block(float value) {
  __shared__ float of_warps[threads / 32];
  for (int away = 16; away > 0; away /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, away));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (unsigned warp = 1; warp < threads / 32; ++warp) value = fmaxf(value, of_warps[warp]);
  return value;
}

/// Block p handles the lines p, p + flow_parts ...
__global__ void __launch_bounds__(threads) find_greatest(const FlowWork at) {
  float greatest = 0.0F;
  for (std::size_t line = blockIdx.x; line < at.lines; line += flow_parts) {
    const float* const power = at.in + line * flow_planes * at.in_stride;
    for (std::size_t k = threadIdx.x; k < at.ranges; k += threads) {
      const float own = __ldg(power + k);
      greatest = own > greatest ? own : greatest;  // skips NaN
    }
  }
  greatest = greatest_of_block(greatest);
  if (threadIdx.x == 0) at.greatest[blockIdx.x] = greatest;
}

template <FlowKind kind>
__global__ void __launch_bounds__(threads) show_flow(const FlowWork at) {
  float least = 0.0F;
  if constexpr (kind == FlowKind::velocity || kind == FlowKind::variance) {
    const float greatest = greatest_of_block(threadIdx.x < flow_parts ? __ldg(at.greatest + threadIdx.x) : 0.0F);
    double threshold = 0.0;
    for (std::size_t piece = 0; piece < flow_threshold_pieces; ++piece) threshold += static_cast<double>(at.threshold[piece]);
    least = static_cast<float>(threshold * static_cast<double>(greatest));
  }
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (k >= at.ranges) return;
  for (std::size_t line = blockIdx.y; line < at.lines; line += gridDim.y) {
    const float* const place = at.in + line * flow_planes * at.in_stride + k;
    const float power = __ldg(place);
    float shown = power;
    if constexpr (kind == FlowKind::velocity) {
      shown = 0.0F;
      if (flows(power, least)) {
        shown = flow_velocity(__ldg(place + at.in_stride), __ldg(place + 2 * at.in_stride), at.scale.of_radian);
      }
    } else if constexpr (kind == FlowKind::variance) {
      shown = 0.0F;
      if (flows(power, least)) {
        shown = flow_variance(power, __ldg(place + at.in_stride), __ldg(place + 2 * at.in_stride), at.scale.twice_square);
      }
    }
    at.out[line * at.ranges + k] = shown;
  }
}

}  // namespace

void launch_flow(const FlowWork& work, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>((work.ranges + threads - 1) / threads),
                  static_cast<unsigned>(work.lines < 65535 ? work.lines : 65535));
  if (work.kind == FlowKind::velocity || work.kind == FlowKind::variance) {
    find_greatest<<<flow_parts, threads, 0, stream>>>(work);
    ECHOFORM_CUDA_LAUNCHED("greatest power");
  }
  switch (work.kind) {
    case FlowKind::velocity:
      show_flow<FlowKind::velocity><<<grid, threads, 0, stream>>>(work);
      break;
    case FlowKind::variance:
      show_flow<FlowKind::variance><<<grid, threads, 0, stream>>>(work);
      break;
    case FlowKind::power:
      show_flow<FlowKind::power><<<grid, threads, 0, stream>>>(work);
      break;
  }
  ECHOFORM_CUDA_LAUNCHED("flow");
}

}  // namespace echoform
