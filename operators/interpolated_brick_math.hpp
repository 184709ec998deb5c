// Spheres about a detector within bricks of the image, for host and device: the CUDA implementation's counterpart of
// interpolated_math.hpp, whose units and rings it has.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "operators/interpolated_math.hpp"

namespace echoform::interpolated {

/// Cells of a brick along each axis, or fewer at the end. Its voxels are one more.
inline constexpr std::int32_t brick_edge = 18;
inline constexpr std::int32_t brick_side = brick_edge + 1;
/// Places from row to row and from plane to plane. Of all pairs that fit into the shared memory of four blocks (228 KB),
/// this is one with the fewest bank conflicts for samples of rings in any direction. Of 32 lanes, 2.5 meet in one bank for
/// loads and 2.9 for additions; with rows and planes without a gap but 4 places these are 2.9 and 3.4.
inline constexpr std::int32_t brick_row = 21;
inline constexpr std::int32_t brick_plane = 413;
inline constexpr std::int32_t brick_voxels = brick_plane * brick_side;
static_assert(brick_row >= brick_side && brick_plane >= brick_row * brick_side);
/// Half of a brick's diagonal, and some for rounding.
inline constexpr double brick_reach = 15.61;

struct Bricks {
  std::int32_t voxels[3];  ///< x, y, z, as all threes here; there are as many cells and one
  std::int32_t count[3];
};

inline Bricks bricks_of_grid(const std::int32_t voxels[3]) {
  Bricks bricks{};
  for (int a = 0; a < 3; ++a) {
    bricks.voxels[a] = voxels[a];
    bricks.count[a] = (voxels[a] + brick_edge) / brick_edge;
  }
  return bricks;
}

ECHOFORM_HOST_DEVICE std::int32_t bricks_of(const Bricks& bricks) {
  return bricks.count[0] * bricks.count[1] * bricks.count[2];
}

/// Samples from low to before high are a brick's.
struct Brick {
  std::int32_t first[3];
  std::int32_t cells[3];
  float low[3];
  float high[3];
};
ECHOFORM_HOST_DEVICE Brick brick_at(const Bricks& bricks, std::int32_t index) {
  const std::int32_t at[3] = {index % bricks.count[0], index / bricks.count[0] % bricks.count[1],
                              index / bricks.count[0] / bricks.count[1]};
  Brick brick;
  for (int a = 0; a < 3; ++a) {
    const std::int32_t first = at[a] * brick_edge;
    const std::int32_t last = first + brick_edge < bricks.voxels[a] + 1 ? first + brick_edge : bricks.voxels[a] + 1;
    brick.first[a] = first;
    brick.cells[a] = last - first;
    brick.low[a] = static_cast<float>(first);
    brick.high[a] = static_cast<float>(last);
  }
  return brick;
}

/// Radii of spheres: of edge k, first + k step.
struct Radii {
  double first;
  double step;
  std::int32_t edges;
};

/// The properties of a sphere that are the same for all bricks.
struct ShellEntry {
  double step;         ///< angle of a ring
  float weight;        ///< of a ring's samples, times the sine of its angle and over their number
  std::int32_t rings;  ///< 0: out of reach
};
/// `scale`: from radius to weights, t / dt of radius 1.
ECHOFORM_HOST_DEVICE ShellEntry shell_entry(const DetectorFrame& frame, double radius, double scale) {
  const Shell shell = shell_of(frame, radius);
  return {shell.step, static_cast<float>(radius * scale * sin(0.5 * shell.step)), static_cast<std::int32_t>(shell.rings)};
}

/// A brick as a detector sees it.
struct SeenBrick {
  float distance;  ///< of its middle
  float polar;     ///< from the line to the grid's middle
  float azimuth;
  float half_width;  ///< in azimuth
  float phase[3];    ///< where on rings x, y and z are largest: from `azimuth`, half a turn at most
  std::int32_t first_edge;
  std::int32_t end_edge;
};

ECHOFORM_HOST_DEVICE SeenBrick seen_brick(const DetectorFrame& frame, const Brick& brick, const Radii& radii) {
  double along = 0.0;
  double on_e1 = 0.0;
  double on_e2 = 0.0;
  double square = 0.0;
  double nearest = 0.0;
  double farthest = 0.0;
  for (int a = 0; a < 3; ++a) {
    const double way = static_cast<double>(brick.first[a]) + 0.5 * brick_edge - frame.place[a];
    along += way * frame.inward[a];
    on_e1 += way * frame.e1[a];
    on_e2 += way * frame.e2[a];
    square += way * way;
    const double to_far = fabs(way) + 0.5 * brick_edge;
    const double to_near = fmax(to_far - brick_edge, 0.0);
    nearest += to_near * to_near;
    farthest += to_far * to_far;
  }
  SeenBrick seen;
  seen.distance = static_cast<float>(sqrt(square));
  const auto across = static_cast<float>(sqrt(on_e1 * on_e1 + on_e2 * on_e2));
  seen.polar = atan2f(across, static_cast<float>(along));
  seen.azimuth = atan2f(static_cast<float>(on_e2), static_cast<float>(on_e1));
  // A cap of half angle d about polar angle t has azimuths to asin(sin d / sin t) on both sides, all of them where it holds the
  // axis.
  constexpr auto reach = static_cast<float>(brick_reach);
  const float sine = reach / fmaxf(seen.distance, reach);
  const float sine_of_polar = across / fmaxf(seen.distance, 1e-9F);
  seen.half_width = sine < sine_of_polar ? asinf(sine / sine_of_polar) + 1e-3F : static_cast<float>(pi);
  constexpr auto turn = static_cast<float>(2.0 * pi);
  for (int a = 0; a < 3; ++a) {
    const float phase = static_cast<float>(frame.phase[a]) - seen.azimuth;
    seen.phase[a] = phase - turn * rintf(phase / turn);
  }
  constexpr double guard = 0.02;  // voxels: rounding of samples' places
  const double first = ceil((sqrt(nearest) - guard - radii.first) / radii.step);
  const double last = floor((sqrt(farthest) + guard - radii.first) / radii.step);
  const double edges = radii.edges;
  seen.first_edge = static_cast<std::int32_t>(first < 0.0 ? 0.0 : first > edges ? edges : first);
  seen.end_edge = static_cast<std::int32_t>(last < 0.0 ? 0.0 : last + 1.0 > edges ? edges : last + 1.0);
  return seen;
}
/// Edges of a brick, at most.
inline std::int32_t edges_at_most(const Radii& radii) {
  const double most = floor(2.0 * brick_reach / radii.step) + 2.0;
  return most < radii.edges ? static_cast<std::int32_t>(most) : radii.edges;
}

struct RingRange {
  std::int32_t first;
  std::int32_t end;
};
/// The rings of a shell that may meet the brick.
ECHOFORM_HOST_DEVICE RingRange rings_within(const SeenBrick& seen, const ShellEntry& shell, double radius) {
  constexpr auto reach = static_cast<float>(brick_reach);
  const auto of = static_cast<float>(radius);
  const float off = seen.distance - of;
  // sin^2(d / 2) of the half angle d in which the ball about the brick meets the sphere.
  const float square = (reach * reach - off * off) / (4.0F * seen.distance * of);
  if (square < 0.0F) return {0, 0};
  const float half = square < 1.0F ? 2.0F * asinf(sqrtf(square)) : static_cast<float>(pi);
  const float inverse = 1.0F / static_cast<float>(shell.step);
  constexpr float slack = 0.02F;  // of rounding
  const float first = ceilf((seen.polar - half) * inverse - 0.5F - slack);
  const float last = floorf((seen.polar + half) * inverse - 0.5F + slack);
  RingRange range;
  const auto rings = static_cast<float>(shell.rings);
  range.first = first < 0.0F ? 0 : first > rings ? shell.rings : static_cast<std::int32_t>(first);
  range.end = last < 0.0F ? 0 : last + 1.0F > rings ? shell.rings : static_cast<std::int32_t>(last) + 1;
  return range;
}

}  // namespace echoform::interpolated
