// How a warp goes over a detector's spheres within a brick; forward and adjoint use the same samples. The warp takes a few
// spheres at a time. Each lane computes a ring, and then the lanes share the samples of all rings and spheres.
#pragma once

#include "gpu/cuda_check.hpp"
#include "operators/interpolated_launch.hpp"

namespace echoform::gpu {

constexpr unsigned every_lane = 0xFFFFFFFFU;
/// Number of spheres that are processed at a time.
constexpr std::int32_t shell_group = 8;

/// Numbers in shared memory before the tables: a brick, and padding for alignment.
constexpr std::int32_t brick_numbers = (interpolated::brick_voxels + 3) / 4 * 4;

/// Table of one warp. Rings are rows of four numbers. Any eight rows that neighbouring lanes read are in different banks.
struct RingTable {
  float4 centre[32];  ///< centre, and weight of a sample
  float4 cosine[32];  ///< cosine, and 1 / samples of the ring
  float4 sine[32];    ///< sine, and samples of the ring
  int2 samples[32];   ///< offset from a number among all samples to that in the ring, as a float's bits; sphere
  double step[shell_group];
  float4 shell[shell_group];       ///< radius and its remainder, weight
  std::int32_t ring[shell_group];  ///< offset from a number among all rings to that in the sphere
  std::int32_t end[shell_group];   ///< end of the sphere's rings among all rings
};

/// Allows a kernel of the current device to use this much shared memory; throws if there is not as much.
inline void allow_shared(const void* kernel, std::size_t bytes) {
  ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  ECHOFORM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
}

/// Where a sample lies in a brick.
struct BrickPlace {
  std::int32_t index;  ///< index of the voxel before it
  float x, y, z;       ///< offset from that voxel
};

/// Works like interpolated::on_circle(), with whole numbers as floats, which are exact below 2^22. The angle is that of n + 1/2
/// among `samples` samples.
__device__ __forceinline__ interpolated::OnCircle on_circle_of(float n, float samples, float inverse) {
  constexpr float magic = 12582912.0F;  // 1.5 x 2^23: a sum with it has the bits of the whole number
  const float quarters = fmaf(n, 4.0F, 2.0F);
  const float near = fmaf(quarters, inverse, magic);
  const int quarter = __float_as_int(near);
  const float v = fmaf(-(near - magic), samples, quarters) * inverse;  // -1/2 .. 1/2 quarters of a turn
  const float v2 = v * v;
  const float s3 = fmaf(v2, fmaf(v2, 0.000160441185F, -0.00468175414F), 0.0796926262F);
  const float s = v * fmaf(v2, fmaf(v2, s3, -0.645964098F), 1.57079633F);
  const float c3 = fmaf(v2, fmaf(v2, 0.000919260275F, -0.0208634807F), 0.253669508F);
  const float c = fmaf(v2, fmaf(v2, c3, -1.23370055F), 1.0F);
  const bool swapped = (quarter & 1) != 0;
  const int cosine_sign = ((quarter + 1) & 2) << 30;
  const int sine_sign = (quarter & 2) << 30;
  return {__int_as_float(__float_as_int(swapped ? s : c) ^ cosine_sign),
          __int_as_float(__float_as_int(swapped ? c : s) ^ sine_sign)};
}

/// Computes the rings of the spheres from first_edge on that may be in the brick, and returns their number. `value_of(edge)` is
/// the factor of their weights; 0 leaves out all rings of the edge. All lanes of a warp must call it together.
template <class Value>
__device__ __forceinline__ std::int32_t make_shell_group(const InterpolatedScene& scene, const interpolated::SeenBrick& seen,
                                                         std::int32_t q, std::int32_t first_edge, RingTable& table,
                                                         const Value& value_of) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t edge = first_edge + lane;
  interpolated::RingRange rings{0, 0};
  interpolated::ShellEntry shell{};
  double radius = 0.0;
  float value = 0.0F;
  if (lane < shell_group && edge < seen.end_edge) {
    shell = scene.shells[static_cast<std::int64_t>(q) * scene.radii.edges + edge];
    radius = scene.radii.first + static_cast<double>(edge) * scene.radii.step;
    value = shell.rings > 0 ? value_of(edge, radius) : 0.0F;
    if (value != 0.0F) rings = interpolated::rings_within(seen, shell, radius);
  }
  const std::int32_t count = rings.end > rings.first ? rings.end - rings.first : 0;
  std::int32_t end = count;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::int32_t before = __shfl_up_sync(every_lane, end, step);
    if (lane >= static_cast<std::int32_t>(step)) end += before;
  }
  __syncwarp();  // other lanes may still read the previous spheres
  if (lane < shell_group) {
    const interpolated::Pair pair = interpolated::pair_of(radius);
    table.step[lane] = shell.step;
    table.shell[lane] = make_float4(pair.value, pair.rest, shell.weight * value, 0.0F);
    table.ring[lane] = rings.first - (end - count);
    table.end[lane] = end;
  }
  __syncwarp();
  return __shfl_sync(every_lane, end, 31);
}

/// Calls body(place, weight, sphere) for the samples in the brick of the `rings` rings in the table. Spheres count from the
/// group's first, and a lane takes the samples of a sphere one after the other. All lanes of a warp must call it together.
template <class Body>
__device__ __forceinline__ void for_rings(const interpolated::RingFrame& frame, const interpolated::SeenBrick& seen,
                                          const interpolated::Brick& brick, const interpolated::AngleEntry* angles,
                                          std::int32_t rings, RingTable& table, const Body& body) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  std::int32_t sphere = 0;
  for (std::int32_t begin = 0; begin < rings; begin += 32) {
    // Lanes without a ring compute the last one, and take none of its samples.
    const std::int32_t own = min(begin + lane, rings - 1);
    while (own >= table.end[sphere]) ++sphere;
    const float4 of_sphere = table.shell[sphere];
    const interpolated::RingShell shell{table.step[sphere], {of_sphere.x, of_sphere.y}, of_sphere.z};
    const interpolated::RingPart part = interpolated::ring_part(frame, seen, brick, angles, shell, own + table.ring[sphere]);
    const std::int32_t count = begin + lane < rings ? part.count : 0;
    std::int32_t end = count;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::int32_t before = __shfl_up_sync(every_lane, end, step);
      if (lane >= static_cast<std::int32_t>(step)) end += before;
    }
    const std::int32_t total = __shfl_sync(every_lane, end, 31);
    // The table's rows hold only rings with samples.
    const unsigned some = __ballot_sync(every_lane, count > 0);
    const std::int32_t start = count > 0 ? end - count : total;  // behind all samples if the ring has none
    __syncwarp();                                                // other lanes may still read the previous rings
    if (count > 0) {
      const int row = __popc(some & ((1U << lane) - 1U));
      table.centre[row] = make_float4(part.centre[0], part.centre[1], part.centre[2], part.weight);
      table.cosine[row] = make_float4(part.cosine[0], part.cosine[1], part.cosine[2], part.inverse);
      table.sine[row] = make_float4(part.sine[0], part.sine[1], part.sine[2], part.samples);
      table.samples[row] = make_int2(__float_as_int(static_cast<float>(part.first - start)), sphere);
    }
    __syncwarp();
    const unsigned to_own = 0xFFFFFFFFU >> (31 - lane);  // lanes up to this one
    std::int32_t last = -1;                              // row of the previous sample
    auto number = static_cast<float>(lane);
    for (std::int32_t first = 0; first < total; first += 32, number += 32.0F) {
      // One bit for each of these 32 samples that is the first of its ring.
      const auto after = static_cast<unsigned>(start - first);
      const unsigned starts = __reduce_or_sync(every_lane, after < 32U ? 1U << after : 0U);
      const std::int32_t ring = last + __popc(starts & to_own);
      last += __popc(starts);
      if (first + lane >= total) continue;
      const int2 samples = table.samples[ring];
      const float4 centre = table.centre[ring];
      const float4 cosine = table.cosine[ring];
      const float4 sine = table.sine[ring];
      const interpolated::OnCircle at = on_circle_of(number + __int_as_float(samples.x), sine.w, cosine.w);
      const float x = fmaf(sine.x, at.sine, fmaf(cosine.x, at.cosine, centre.x));
      const float y = fmaf(sine.y, at.sine, fmaf(cosine.y, at.cosine, centre.y));
      const float z = fmaf(sine.z, at.sine, fmaf(cosine.z, at.cosine, centre.z));
      // Rounded down, a sum with 2^23 has the bits of the whole number; places below 0 have bits below those of 2^23.
      constexpr float magic = 8388608.0F;
      constexpr std::int32_t magic_bits = 0x4B000000;
      const float of_x = __fadd_rd(x, magic);
      const float of_y = __fadd_rd(y, magic);
      const float of_z = __fadd_rd(z, magic);
      const auto cell_x = static_cast<unsigned>(__float_as_int(of_x) - magic_bits - brick.first[0]);
      const auto cell_y = static_cast<unsigned>(__float_as_int(of_y) - magic_bits - brick.first[1]);
      const auto cell_z = static_cast<unsigned>(__float_as_int(of_z) - magic_bits - brick.first[2]);
      if (cell_x >= static_cast<unsigned>(brick.cells[0]) || cell_y >= static_cast<unsigned>(brick.cells[1]) ||
          cell_z >= static_cast<unsigned>(brick.cells[2]))
        continue;
      const BrickPlace of{
          static_cast<std::int32_t>(cell_z * interpolated::brick_plane + cell_y * interpolated::brick_row + cell_x),
          x - (of_x - magic), y - (of_y - magic), z - (of_z - magic)};
      body(of, centre.w, samples.y);
    }
  }
}

}  // namespace echoform::gpu
