// Spheres about a detector within bricks of the image, for host and device: the CUDA implementation's counterpart of
// interpolated_math.hpp, whose units and rings it has.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "operators/interpolated_math.hpp"

namespace echoform::interpolated {

/// Cells of a brick along each axis, or fewer at the end: as many as let nearly all shells have no more rings than a warp has
/// lanes. Its voxels are one more.
inline constexpr std::int32_t brick_edge = 18;
inline constexpr std::int32_t brick_row = brick_edge + 1;
/// Voxels from plane to plane: neighbours along x, y and z are in different banks.
inline constexpr std::int32_t brick_plane = brick_row * brick_row + 4;
inline constexpr std::int32_t brick_voxels = brick_plane * brick_row;
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

/// A sphere as all bricks have it.
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
  double distance;  ///< of its middle
  float polar;      ///< from the line to the grid's middle
  float azimuth;
  float half_width;  ///< in azimuth
  std::int32_t first_edge;
  std::int32_t end_edge;
};

ECHOFORM_HOST_DEVICE SeenBrick seen_brick(const DetectorFrame& frame, const Brick& brick, const Radii& radii) {
  double along = 0.0;
  double on_e1 = 0.0;
  double on_e2 = 0.0;
  double square = 0.0;
  for (int a = 0; a < 3; ++a) {
    const double way = static_cast<double>(brick.first[a]) + 0.5 * brick_edge - frame.place[a];
    along += way * frame.inward[a];
    on_e1 += way * frame.e1[a];
    on_e2 += way * frame.e2[a];
    square += way * way;
  }
  SeenBrick seen;
  seen.distance = sqrt(square);
  const double across = sqrt(on_e1 * on_e1 + on_e2 * on_e2);
  seen.polar = static_cast<float>(atan2(across, along));
  seen.azimuth = static_cast<float>(atan2(on_e2, on_e1));
  // A cap of half angle d about polar angle t has azimuths to asin(sin d / sin t) on both sides, all of them where it holds the
  // axis.
  const double sine = brick_reach / (seen.distance > brick_reach ? seen.distance : brick_reach);
  const double sine_of_polar = across / (seen.distance > 1e-9 ? seen.distance : 1e-9);
  seen.half_width = sine < sine_of_polar ? static_cast<float>(asin(sine / sine_of_polar)) + 1e-3F : static_cast<float>(pi);
  const double first = ceil((seen.distance - brick_reach - radii.first) / radii.step);
  const double last = floor((seen.distance + brick_reach - radii.first) / radii.step);
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
/// Rings of a shell that may meet the brick.
ECHOFORM_HOST_DEVICE RingRange rings_within(const SeenBrick& seen, const ShellEntry& shell, double radius) {
  const double off = seen.distance - radius;
  // sin^2(d / 2) of the half angle d in which the ball about the brick meets the sphere.
  const auto square = static_cast<float>((brick_reach * brick_reach - off * off) / (4.0 * seen.distance * radius));
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

/// Samples of a ring that may be in a brick: `count` from `first` on, around the end.
struct RingPart {
  Ring ring;
  float weight;
  std::int32_t first;
  std::int32_t count;
};

namespace detail {

struct Arc {
  float from;
  float to;
};

/// The smallest arc that holds what is in `arc` and in one of four others.
ECHOFORM_HOST_DEVICE Arc hull_within(const Arc& arc, const Arc others[4]) {
  Arc hull{1e9F, -1e9F};
  for (int k = 0; k < 4; ++k) {
    const float from = fmaxf(arc.from, others[k].from);
    const float to = fminf(arc.to, others[k].to);
    if (from > to) continue;
    hull.from = fminf(hull.from, from);
    hull.to = fmaxf(hull.to, to);
  }
  return hull;
}

}  // namespace detail

/// As ring_of() and pieces_within() have it: a superset, samples are checked one by one afterwards.
ECHOFORM_HOST_DEVICE RingPart ring_part(const DetectorFrame& frame, const SeenBrick& seen, const Brick& brick,
                                        const ShellEntry& shell, double radius, std::int32_t k) {
  constexpr float guard = 0.01F;  // voxels: places are single precision
  constexpr auto turn = static_cast<float>(2.0 * pi);
  const double angle = (static_cast<double>(k) + 0.5) * shell.step;
  const double sine = sin(angle);
  const double along = radius * cos(angle);
  const double across = radius * sine;
  const double count = floor(2.0 * pi * across + 0.5);
  RingPart part;
  Ring& ring = part.ring;
  ring.count = count < 1.0 ? 1 : static_cast<std::int32_t>(count);
  part.weight = shell.weight * static_cast<float>(sine) / static_cast<float>(ring.count);
  part.first = 0;
  part.count = 0;
  detail::Arc arc{seen.azimuth - seen.half_width, seen.azimuth + seen.half_width};
  for (int a = 0; a < 3; ++a) {
    ring.centre[a] = static_cast<float>(frame.place[a] + along * frame.inward[a]);
    ring.cosine[a] = static_cast<float>(across * frame.e1[a]);
    ring.sine[a] = static_cast<float>(across * frame.e2[a]);
  }
  for (int a = 0; a < 3; ++a) {
    const float size = static_cast<float>(across) * static_cast<float>(frame.span[a]);
    const float least = brick.low[a] - guard - ring.centre[a];
    const float most = brick.high[a] + guard - ring.centre[a];
    if (least > size || most < -size) return part;
    if (least <= -size && most >= size) continue;
    const float near = most >= size ? 0.0F : acosf(most / size);
    const float far = least <= -size ? static_cast<float>(pi) : acosf(least / size);
    const auto phase = static_cast<float>(frame.phase[a]);
    const float middle = phase + turn * rintf((seen.azimuth - phase) / turn);
    const detail::Arc others[4] = {{middle + near, middle + far},
                                   {middle - far, middle - near},
                                   {middle - far + turn, middle - near + turn},
                                   {middle + near - turn, middle + far - turn}};
    arc = detail::hull_within(arc, others);
    if (arc.from > arc.to) return part;
  }
  const float to_samples = static_cast<float>(ring.count) / turn;
  constexpr float slack = 0.02F;  // of rounding
  const auto first = static_cast<std::int32_t>(ceilf(arc.from * to_samples - 0.5F - slack));
  const auto last = static_cast<std::int32_t>(floorf(arc.to * to_samples - 0.5F + slack));
  if (last < first) return part;
  part.count = last - first + 1 < ring.count ? last - first + 1 : ring.count;
  part.first = first % ring.count;
  if (part.first < 0) part.first += ring.count;
  return part;
}

}  // namespace echoform::interpolated
