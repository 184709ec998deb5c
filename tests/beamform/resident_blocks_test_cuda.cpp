// How many blocks of the beamformer a multiprocessor holds: what the host reckons, against the driver.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "stages/beamform/tile_kernels.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::beamform {
namespace {

std::size_t attribute(cudaDeviceAttr name) {
  int value = 0;
  ECHOFORM_CUDA(cudaDeviceGetAttribute(&value, name, 0));
  return static_cast<std::size_t>(value);
}

TEST(TileKernelsCuda, AreResidentAsReckoned) {
  ECHOFORM_REQUIRE_GPU();
  const SharedMemory device{attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                            attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
  const std::size_t limit = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  std::size_t fewer = 0;
  for (std::size_t kind = 0; kind < tile_kind_count; ++kind) {
    for (const std::uint32_t sources : {64U, 128U, 256U, 512U, 1024U}) {
      for (const bool half : {true, false}) {
        for (const PairOrder order : {PairOrder::once, PairOrder::ordered_full}) {
          TileLaunch launch;
          launch.kind = static_cast<TileKind>(kind);
          launch.half = half;
          launch.analytic = true;
          launch.order = order;
          launch.sources = sources;
          launch.receivers = sources;
          const TileFunction function = launch.kind == TileKind::gather ? gather_function(launch)
                                        : half                          ? half_tile_function(launch)
                                                                        : float_tile_function(launch);
          if (function.shared > limit) continue;
          prepare_tiles(launch);
          int blocks = 0;
          ECHOFORM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, function.kernel, static_cast<int>(shape_of(launch.kind).threads), function.shared));
          const std::size_t reckoned = resident_blocks(launch.kind, function.shared, device);
          // Registers may leave room for more than the shape is made for.
          EXPECT_EQ(std::min<std::size_t>(static_cast<std::size_t>(blocks), shape_of(launch.kind).blocks), reckoned)
              << fmt::format("kind {}, {} sources, half {}, {} bytes", kind, sources, half, function.shared);
          fewer += reckoned < shape_of(launch.kind).blocks ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(fewer, 0U) << "some leave room for fewer than the shape is made for";
}

}  // namespace
}  // namespace echoform::beamform
