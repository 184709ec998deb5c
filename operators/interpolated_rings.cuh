// How a warp goes over a detector's spheres within a brick: the same samples in both directions.
#pragma once

#include "operators/interpolated_launch.hpp"

namespace echoform::gpu {

constexpr unsigned ring_threads = 256;
constexpr unsigned ring_warps = ring_threads / 32;
constexpr unsigned every_lane = 0xFFFFFFFFU;

/// Rings of a shell, a column for each lane that has worked one out. By columns, so that whichever ring lanes read they read
/// other banks.
struct RingTable {
  float centre[3][32];
  float cosine[3][32];
  float sine[3][32];
  float weight[32];
  float inverse[32];
  std::int32_t count[32];
  std::int32_t offset[32];  ///< from a number among all samples to that in the ring, count or less
  std::int32_t end[32];     ///< of the ring's numbers among all samples
};

/// Where a sample lies in a brick.
struct BrickPlace {
  std::int32_t index;  ///< of the voxel before it
  float x, y, z;       ///< from there
};

/// Calls body(place, weight) for the samples of rings `begin` .. that are in the brick. All lanes of a warp together.
template <class Body>
__device__ __forceinline__ void for_rings(const interpolated::DetectorFrame& frame, const interpolated::SeenBrick& seen,
                                          const interpolated::Brick& brick, const interpolated::ShellEntry& shell, double radius,
                                          const interpolated::RingRange& rings, RingTable& table, const Body& body) {
  const unsigned lane = threadIdx.x % 32;
  for (std::int32_t begin = rings.first; begin < rings.end; begin += 32) {
    const std::int32_t own = begin + static_cast<std::int32_t>(lane);
    // Lanes without a ring work out the last one, and have none of its samples.
    const interpolated::RingPart part =
        interpolated::ring_part(frame, seen, brick, shell, radius, own < rings.end ? own : rings.end - 1);
    const std::int32_t count = own < rings.end ? part.count : 0;
    std::int32_t end = count;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::int32_t before = __shfl_up_sync(every_lane, end, step);
      if (lane >= step) end += before;
    }
    const std::int32_t total = __shfl_sync(every_lane, end, 31);
    if (total == 0) continue;
    __syncwarp();  // who still reads the rings before
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      table.centre[a][lane] = part.ring.centre[a];
      table.cosine[a][lane] = part.ring.cosine[a];
      table.sine[a][lane] = part.ring.sine[a];
    }
    table.weight[lane] = part.weight;
    table.inverse[lane] = 1.0F / static_cast<float>(part.ring.count);
    table.count[lane] = part.ring.count;
    table.offset[lane] = part.first - (end - count);
    table.end[lane] = end;
    __syncwarp();
    int ring = 0;
    for (std::int32_t k = static_cast<std::int32_t>(lane); k < total; k += 32) {
      while (k >= table.end[ring]) ++ring;
      const std::int32_t of_ring = table.count[ring];
      std::int32_t n = k + table.offset[ring];
      if (n >= of_ring) n -= of_ring;
      const interpolated::OnCircle at = interpolated::on_circle(n, of_ring, table.inverse[ring]);
      float place[3];
      bool within = true;
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        place[a] = interpolated::added(table.sine[a][ring], at.sine,
                                       interpolated::added(table.cosine[a][ring], at.cosine, table.centre[a][ring]));
        within = within && place[a] >= brick.low[a] && place[a] < brick.high[a];
      }
      if (!within) continue;
      const auto x = static_cast<std::int32_t>(place[0]);
      const auto y = static_cast<std::int32_t>(place[1]);
      const auto z = static_cast<std::int32_t>(place[2]);
      BrickPlace of;
      of.index =
          (z - brick.first[2]) * interpolated::brick_plane + (y - brick.first[1]) * interpolated::brick_row + x - brick.first[0];
      of.x = place[0] - static_cast<float>(x);
      of.y = place[1] - static_cast<float>(y);
      of.z = place[2] - static_cast<float>(z);
      body(of, table.weight[ring]);
    }
  }
}

}  // namespace echoform::gpu
