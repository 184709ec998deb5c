#include "stages/beamform/tile_kernels.hpp"

#include "gpu/cuda_check.hpp"

namespace echoform::beamform {
namespace {

TileFunction function_of(const TileLaunch& launch) {
  if (launch.kind == TileKind::gather) return gather_function(launch);
  if (launch.plane) return launch.turned ? turned_tile_function(launch) : plane_tile_function(launch);
  if (launch.order == PairOrder::listed) return listed_tile_function(launch);
  if (launch.separate) return separate_tile_function(launch);
  return launch.half ? half_tile_function(launch) : float_tile_function(launch);
}

/// image = scale * factor * sum over the splits, in their order.
__global__ void sum_splits(const float2* __restrict__ partial, std::uint32_t splits, std::size_t pixels,
                           const float* __restrict__ factor, float scale, float2* __restrict__ image) {
  const std::size_t pixel = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  float2 sum = make_float2(0.0F, 0.0F);
  for (std::uint32_t split = 0; split < splits; ++split) {
    const float2 part = partial[split * pixels + pixel];
    sum.x += part.x;
    sum.y += part.y;
  }
  const float whole = factor != nullptr ? scale * *factor : scale;
  image[pixel] = make_float2(sum.x * whole, sum.y * whole);
}

}  // namespace

void prepare_tiles(const TileLaunch& launch) {
  const TileFunction function = function_of(launch);
  // The attribute belongs to the kernel, not to this launch. Stages of other views launch the same kernel with longer tables, and
  // so does an engine that is at work while its successor is set up. So the attribute is raised and never lowered.
  cudaFuncAttributes now{};
  ECHOFORM_CUDA(cudaFuncGetAttributes(&now, function.kernel));
  const int wanted = static_cast<int>(function.shared);
  if (now.maxDynamicSharedSizeBytes >= wanted) return;
  ECHOFORM_CUDA(cudaFuncSetAttribute(function.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted));
}

void launch_tiles(std::span<const TileLaunch> launches, cudaStream_t stream) noexcept {
  const TileLaunch& last = launches.back();
  const std::size_t pixels = std::size_t{last.nx} * last.ny * last.nz;
  const bool whole = launches.size() == 1 && last.splits == 1;
  std::uint32_t parts = 0;
  for (const TileLaunch& one : launches) {
    TileLaunch launch = one;
    if (!whole) {
      launch.partial += 2 * pixels * parts;
      // A launch with one split would write a whole image.
      if (launch.splits == 1) {
        launch.image = launch.partial;
        launch.factor = nullptr;
        launch.scale = 1.0F;
      }
    }
    const TileFunction function = function_of(launch);
    void* arguments[] = {&launch};
    const dim3 grid(launch.tiles_x * launch.tiles_z * launch.ny, launch.splits);
    ECHOFORM_CUDA_QUEUED(
        cudaLaunchKernel(function.kernel, grid, dim3(shape_of(launch.kind).threads), arguments, function.shared, stream));
    parts += launch.splits;
  }
  if (whole) return;
  sum_splits<<<static_cast<unsigned>((pixels + 255) / 256), 256, 0, stream>>>(reinterpret_cast<const float2*>(last.partial),
                                                                              parts, pixels, last.factor, last.scale,
                                                                              reinterpret_cast<float2*>(last.image));
  ECHOFORM_CUDA_LAUNCHED("sum of splits");
}

}  // namespace echoform::beamform
