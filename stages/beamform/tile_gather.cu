// The kernel for grids so coarse that no window holds the samples that a tile reaches: every lookup goes to the A-scans in device
// memory.
#include "stages/beamform/tile_kernel.cuh"
#include "stages/beamform/tile_kernels.hpp"

namespace echoform::beamform {
namespace {

constexpr TileShape shape = shape_of(TileKind::gather);

struct GatherSide {
  const SourceWindow* windows;
  const std::uint32_t* delays;
  const float* weights;
};

__device__ __forceinline__ GatherSide side_of(const TileSide& side, std::uint32_t tile) {
  const std::size_t table = std::size_t{tile} * side.tabled * shape.x * shape.z + threadIdx.x;
  return {side.windows + std::size_t{tile} * side.tabled, side.delays + table,
          side.weights == nullptr ? nullptr : side.weights + table};
}

template <bool half, bool nearest>
__device__ __forceinline__ float2 look_up(const uint2* row, std::int32_t base, std::uint32_t delay, std::int32_t samples) {
  const std::int64_t place = std::int64_t{base} + (delay >> 16);
  if (place < 0 || place >= samples) return make_float2(0.0F, 0.0F);
  if constexpr (half) {
    const uint2 element = row[place];
    const __half2 fraction = as_half2((delay << 10) & 0x03ff0000u);
    return __half22float2(__hfma2(as_half2(element.y), __high2half2(fraction), as_half2(element.x)));
  } else {
    if (!nearest && place >= samples - 1) return make_float2(0.0F, 0.0F);
    float2 sum = make_float2(0.0F, 0.0F);
    const float2 here = as_float2(row[place]);
    const float2 next = nearest ? here : as_float2(row[place + 1]);
    add_interpolated<nearest>(here, next, one_and_fraction_of<16>(delay), 1.0F, sum);
    return sum;
  }
}

template <bool separate>
__device__ __forceinline__ std::uint32_t receivers_of(const TileLaunch& launch) {
  if constexpr (separate) {
    return launch.receivers;
  } else {
    return launch.sources;
  }
}

/// This thread's pixel, within its plane of y.
struct Pixel {
  std::uint32_t x;
  std::uint32_t z;
};

__device__ __forceinline__ Pixel own_pixel(const TileLaunch& launch) {
  const std::uint32_t in_plane = blockIdx.x % (launch.tiles_x * launch.tiles_z);
  return {in_plane % launch.tiles_x * shape.x + threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8,
          in_plane / launch.tiles_x * shape.z + threadIdx.x / 64 * 4 + threadIdx.x % 32 / 8};
}

__device__ __forceinline__ void write_sum(const TileLaunch& launch, Pixel at, float2 sum) {
  const bool whole = launch.splits == 1;
  float factor = 1.0F;
  if (whole) factor = launch.factor != nullptr ? launch.scale * *launch.factor : launch.scale;
  const std::size_t pixels = std::size_t{launch.nx} * launch.ny * launch.nz;
  auto* const out = reinterpret_cast<float2*>(whole ? launch.image : launch.partial) + (whole ? 0 : blockIdx.y * pixels);
  const std::uint32_t y = blockIdx.x / (launch.tiles_x * launch.tiles_z);
  out[(std::size_t{at.z} * launch.ny + y) * launch.nx + at.x] = make_float2(sum.x * factor, sum.y * factor);
}

constexpr std::size_t pixels_of_tile = shape.x * shape.z;

template <bool half, bool nearest, bool separate>
__global__ void __launch_bounds__(shape.threads) gather(const __grid_constant__ TileLaunch launch) {
  const std::uint32_t tile = blockIdx.x;
  const Pixel at = own_pixel(launch);
  if (at.x >= launch.nx || at.z >= launch.nz) return;
  const bool once = !separate && launch.order == PairOrder::once;
  const GatherSide transmit = side_of(launch.transmit, tile);
  const GatherSide receive = once ? transmit : side_of(launch.receive, tile);
  const auto* const rows = static_cast<const uint2*>(launch.rows) + row_margin;
  float2 sum = make_float2(0.0F, 0.0F);
  const std::uint32_t begin = static_cast<std::uint32_t>(std::uint64_t{launch.sources} * blockIdx.y / launch.splits);
  const std::uint32_t end = static_cast<std::uint32_t>(std::uint64_t{launch.sources} * (blockIdx.y + 1) / launch.splits);
  for (std::uint32_t i = begin; i < end; ++i) {
    const SourceWindow a = transmit.windows[i];
    if (a.reach < 0) continue;
    const std::uint32_t transmit_delay = transmit.delays[i * pixels_of_tile];
    float2 part = make_float2(0.0F, 0.0F);
    for (std::uint32_t j = once ? i : 0; j < receivers_of<separate>(launch); ++j) {
      const SourceWindow b = receive.windows[j];
      if (b.reach < 0) continue;
      const std::uint32_t low = min(i, j);
      const std::uint32_t row = separate || launch.order == PairOrder::ordered_full
                                    ? i * receivers_of<separate>(launch) + j
                                    : low * launch.sources - low * (low + 1) / 2 + max(i, j);
      const float2 value = look_up<half, nearest>(rows + std::size_t{row} * launch.row_stride, a.base + b.base,
                                                  transmit_delay + receive.delays[j * pixels_of_tile], launch.samples);
      float weight = receive.weights == nullptr ? 1.0F : receive.weights[j * pixels_of_tile];
      if (once && i != j) weight *= launch.once_weight;
      part.x = fmaf(value.x, weight, part.x);
      part.y = fmaf(value.y, weight, part.y);
    }
    const float weight = transmit.weights == nullptr ? 1.0F : transmit.weights[i * pixels_of_tile];
    sum.x = fmaf(part.x, weight, sum.x);
    sum.y = fmaf(part.y, weight, sum.y);
  }
  write_sum(launch, at, sum);
}

/// The kernel for PairOrder::listed.
template <bool half, bool nearest>
__global__ void __launch_bounds__(shape.threads) gather_listed(const __grid_constant__ TileLaunch launch) {
  const std::uint32_t tile = blockIdx.x;
  const Pixel at = own_pixel(launch);
  if (at.x >= launch.nx || at.z >= launch.nz) return;
  const GatherSide transmit = side_of(launch.transmit, tile);
  const GatherSide receive = side_of(launch.receive, tile);
  const auto* const rows = static_cast<const uint2*>(launch.rows) + row_margin;
  float2 sum = make_float2(0.0F, 0.0F);
  const std::uint32_t begin = static_cast<std::uint32_t>(std::uint64_t{launch.listed.count} * blockIdx.y / launch.splits);
  const std::uint32_t end = static_cast<std::uint32_t>(std::uint64_t{launch.listed.count} * (blockIdx.y + 1) / launch.splits);
  for (std::uint32_t group = begin; group < end; ++group) {
    const std::uint32_t* const listed = launch.listed.rows + std::size_t{group} * shape.pairs * shape.pairs;
    const std::uint32_t first_i = launch.listed.groups[2 * group] * shape.pairs;
    const std::uint32_t first_j = launch.listed.groups[2 * group + 1] * shape.pairs;
    for (std::uint32_t i = first_i; i < min(first_i + shape.pairs, launch.sources); ++i) {
      const SourceWindow a = transmit.windows[i];
      if (a.reach < 0) continue;
      const std::uint32_t transmit_delay = transmit.delays[i * pixels_of_tile];
      float2 part = make_float2(0.0F, 0.0F);
      for (std::uint32_t j = first_j; j < min(first_j + shape.pairs, launch.receivers); ++j) {
        const std::uint32_t row = listed[(i - first_i) * shape.pairs + (j - first_j)];
        const SourceWindow b = receive.windows[j];
        if (row == no_listed_row || b.reach < 0) continue;
        const float2 value = look_up<half, nearest>(rows + std::size_t{row} * launch.row_stride, a.base + b.base,
                                                    transmit_delay + receive.delays[j * pixels_of_tile], launch.samples);
        const float weight = receive.weights == nullptr ? 1.0F : receive.weights[j * pixels_of_tile];
        part.x = fmaf(value.x, weight, part.x);
        part.y = fmaf(value.y, weight, part.y);
      }
      const float weight = transmit.weights == nullptr ? 1.0F : transmit.weights[i * pixels_of_tile];
      sum.x = fmaf(part.x, weight, sum.x);
      sum.y = fmaf(part.y, weight, sum.y);
    }
  }
  write_sum(launch, at, sum);
}

TileFunction function_of_listed(const TileLaunch& launch) {
  if (launch.half) return {reinterpret_cast<const void*>(&gather_listed<true, false>), 0};
  return {launch.nearest ? reinterpret_cast<const void*>(&gather_listed<false, true>)
                         : reinterpret_cast<const void*>(&gather_listed<false, false>),
          0};
}

template <bool separate>
TileFunction function_of(const TileLaunch& launch) {
  if (launch.half) return {reinterpret_cast<const void*>(&gather<true, false, separate>), 0};
  return {launch.nearest ? reinterpret_cast<const void*>(&gather<false, true, separate>)
                         : reinterpret_cast<const void*>(&gather<false, false, separate>),
          0};
}

}  // namespace

TileFunction gather_function(const TileLaunch& launch) {
  if (launch.order == PairOrder::listed) return function_of_listed(launch);
  return launch.separate ? function_of<true>(launch) : function_of<false>(launch);
}

}  // namespace echoform::beamform
