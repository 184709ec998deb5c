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

SharedMemory shared_memory() {
  return {attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor), attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
}

/// Blocks of a launch that a multiprocessor holds: registers may leave room for more than the shape is made for.
std::size_t blocks_held(const TileLaunch& launch, const TileFunction& function) {
  prepare_tiles(launch);
  int blocks = 0;
  ECHOFORM_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function.kernel,
                                                              static_cast<int>(shape_of(launch.kind).threads), function.shared));
  return std::min<std::size_t>(static_cast<std::size_t>(blocks), shape_of(launch.kind).blocks);
}

TEST(TileKernelsCuda, AreResidentAsReckoned) {
  ECHOFORM_REQUIRE_GPU();
  const SharedMemory device = shared_memory();
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
          const std::size_t reckoned = resident_blocks(launch.kind, function.shared, device);
          EXPECT_EQ(blocks_held(launch, function), reckoned)
              << fmt::format("kind {}, {} sources, half {}, {} bytes", kind, sources, half, function.shared);
          fewer += reckoned < shape_of(launch.kind).blocks ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(fewer, 0U) << "some leave room for fewer than the shape is made for";
}

TEST(TileKernelsCuda, OfPlaneWavesAreResidentAsReckoned) {
  ECHOFORM_REQUIRE_GPU();
  const SharedMemory device = shared_memory();
  const std::size_t limit = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  for (std::size_t kind = 0; kind < tile_kind_count; ++kind) {
    if (static_cast<TileKind>(kind) == TileKind::gather) continue;
    for (const std::uint32_t waves : {11U, 32U, 128U}) {
      for (const bool half : {true, false}) {
        for (const bool nearest : {false, true}) {
          TileLaunch launch;
          launch.kind = static_cast<TileKind>(kind);
          launch.half = half;
          launch.nearest = nearest;
          launch.analytic = true;
          launch.plane = true;
          launch.order = PairOrder::ordered_full;
          launch.sources = waves;
          launch.receivers = 128;
          const TileFunction function = plane_tile_function(launch);
          if (function.shared > limit) continue;
          EXPECT_EQ(blocks_held(launch, function), resident_blocks(launch.kind, function.shared, device))
              << fmt::format("kind {}, {} waves, half {}, {} bytes", kind, waves, half, function.shared);
        }
      }
    }
  }
}

TEST(TileKernelsCuda, OfListedPairsAreResidentAsReckoned) {
  ECHOFORM_REQUIRE_GPU();
  const SharedMemory device = shared_memory();
  const std::size_t limit = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  for (std::size_t kind = 0; kind < tile_kind_count; ++kind) {
    if (!has_separate_counts(static_cast<TileKind>(kind))) continue;
    for (const std::uint32_t sources : {64U, 300U}) {
      for (const bool half : {true, false}) {
        for (const bool analytic : {true, false}) {
          TileLaunch launch;
          launch.kind = static_cast<TileKind>(kind);
          launch.half = half;
          launch.analytic = analytic && launch.kind != TileKind::gather;
          launch.separate = true;
          launch.order = PairOrder::listed;
          launch.sources = sources;
          launch.receivers = sources;
          const TileFunction function = launch.kind == TileKind::gather ? gather_function(launch) : listed_tile_function(launch);
          if (function.shared > limit) continue;
          EXPECT_EQ(blocks_held(launch, function), resident_blocks(launch.kind, function.shared, device))
              << fmt::format("kind {}, {} sources, half {}, {} bytes", kind, sources, half, function.shared);
        }
      }
    }
  }
}

}  // namespace
}  // namespace echoform::beamform
