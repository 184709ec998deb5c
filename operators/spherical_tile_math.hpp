// Arrival times and amplitudes of the sound of a tile's voxels, for host and device: the CUDA implementation's counterpart
// of spherical_math.hpp, with the same units. A device computes roots and reciprocals to 2e-7.
#pragma once

#include <math.h>
#include <string.h>

#include <cstdint>

#include "gpu/host_device.hpp"
#include "operators/spherical_math.hpp"

namespace echoform::spherical {

/// Voxels of a tile along each axis, or fewer where the grid has fewer.
inline constexpr std::int32_t tile_edge = 16;
/// An impulse at place u in its cell, -1/2 .. 1/2 from the middle, is described by u^0 .. u^5.
inline constexpr std::int32_t moments = 6;

/// Tiles of a grid: `edge` voxels each, fewer at the grid's ends. x, y, z as all threes here.
struct Tiles {
  std::int32_t voxels[3];
  std::int32_t edge[3];
  std::int32_t count[3];
  /// Cells of a window in time that holds all arrivals of a tile, the one of its middle in the window's middle.
  std::int32_t half;
  std::int32_t window;  ///< 2 half + 1
  float spacing;
  float origin[3];  ///< of voxel 0 of a tile from its middle
};

ECHOFORM_HOST_DEVICE std::int32_t tiles_of(const Tiles& tiles) {
  return tiles.count[0] * tiles.count[1] * tiles.count[2];
}

/// `margin`: cells by which impulses lie before or after an arrival, at most.
inline Tiles tiles_of_grid(const std::int64_t voxels[3], double spacing, std::int32_t margin) {
  Tiles tiles{};
  tiles.spacing = static_cast<float>(spacing);
  double square = 0.0;
  for (int a = 0; a < 3; ++a) {
    tiles.voxels[a] = static_cast<std::int32_t>(voxels[a]);
    tiles.edge[a] = tiles.voxels[a] < tile_edge ? tiles.voxels[a] : tile_edge;
    tiles.count[a] = (tiles.voxels[a] + tiles.edge[a] - 1) / tiles.edge[a];
    const double side = 0.5 * static_cast<double>(tiles.edge[a] - 1) * spacing;
    tiles.origin[a] = static_cast<float>(-side);
    square += side * side;
  }
  // Distances differ by no more than places do, and arrivals are in cells at most one further than that, and a little for
  // rounding and for what touches a detector. Not a cell more: the smaller windows are, the more warps have space for
  // theirs. With D the way from the tile's middle to a corner and m the margin, an impulse's time after the middle of cell 0
  // is half - 1/2 + f + x, 0 <= f < 1, |x| <= D + m; its cell is the whole number next to that. It is not below 0 if D + m <
  // half, and not above 2 half, the last one, if D + m < half again: floor(D + 1.01) > D + 0.01.
  tiles.half = static_cast<std::int32_t>(floor(sqrt(square) + 1.01 + 0.02 * spacing)) + margin;
  tiles.window = 2 * tiles.half + 1;
  return tiles;
}

struct TilePlace {
  std::int32_t first[3];  ///< voxel
  std::int32_t count[3];
};
ECHOFORM_HOST_DEVICE TilePlace tile_at(const Tiles& tiles, std::int32_t index) {
  const std::int32_t at[3] = {index % tiles.count[0], index / tiles.count[0] % tiles.count[1],
                              index / tiles.count[0] / tiles.count[1]};
  TilePlace place;
  for (int a = 0; a < 3; ++a) {
    place.first[a] = at[a] * tiles.edge[a];
    const std::int32_t rest = tiles.voxels[a] - place.first[a];
    place.count[a] = rest < tiles.edge[a] ? rest : tiles.edge[a];
  }
  return place;
}

/// A tile as one detector hears it, relative to its middle.
struct HeardTile {
  float slope[3];     ///< twice the middle's way from the detector
  float distance;     ///< of the middle
  float square;       ///< of that
  float rest;         ///< its arrival after the middle of the window's cell 0
  std::int32_t base;  ///< the window's cell 0 on the grid in time
  float across;       ///< from the detector to the middle, by the element's axes
  float along;
  float across_slope[3];
  float along_slope[3];
};

ECHOFORM_HOST_DEVICE HeardTile tile_heard_by(const Listener& listener, const Lattice& lattice, const Tiles& tiles,
                                             const TilePlace& tile, double shift) {
  double way[3];
  for (int a = 0; a < 3; ++a) {
    const double middle = static_cast<double>(tile.first[a]) + 0.5 * static_cast<double>(tiles.edge[a] - 1);
    way[a] = lattice.first[a] + middle * lattice.spacing - listener.place[a];
  }
  double distance = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
  double arrival = distance - shift;
  constexpr double far = 1e9;  // and out of every grid
  // Where single precision has no squares any more, a detector in the tile's middle, heard by nobody: its windows are as good as
  // others.
  constexpr double farthest = 1e15;
  if (!(distance < farthest && fabs(arrival) < farthest)) {
    for (int a = 0; a < 3; ++a) way[a] = 0.0;
    distance = 0.0;
    arrival = far;
  }
  const double cell = floor(arrival);
  HeardTile heard;
  heard.distance = static_cast<float>(distance);
  heard.square = static_cast<float>(distance * distance);
  heard.rest = static_cast<float>(arrival - cell) - 0.5F + static_cast<float>(tiles.half);
  heard.base = static_cast<std::int32_t>(cell < -far ? -far : cell > far ? far : cell) - tiles.half;
  double across = 0.0;
  double along = 0.0;
  for (int a = 0; a < 3; ++a) {
    heard.slope[a] = static_cast<float>(2.0 * way[a]);
    heard.across_slope[a] = static_cast<float>(listener.across[a]);
    heard.along_slope[a] = static_cast<float>(listener.along[a]);
    across += way[a] * listener.across[a];
    along += way[a] * listener.along[a];
  }
  heard.across = static_cast<float>(across);
  heard.along = static_cast<float>(along);
  return heard;
}

/// Offset of voxel k of an axis from the tile's middle.
ECHOFORM_HOST_DEVICE float tile_offset(const Tiles& tiles, int axis, std::int32_t k) {
  return fmaf(static_cast<float>(k), tiles.spacing, tiles.origin[axis]);
}

ECHOFORM_HOST_DEVICE float near_inverse_root(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0F / sqrtf(x);
#endif
}
ECHOFORM_HOST_DEVICE float near_reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0F / x;
#endif
}

/// What an offset along an axis adds to |way|^2, and what others add. Both directions go from x over y to z: the same bits.
ECHOFORM_HOST_DEVICE float longer_by(const HeardTile& heard, int axis, float offset, float others) {
  return fmaf(offset, offset + heard.slope[axis], others);
}

struct TileArrival {
  float time;      ///< after the middle of the window's cell 0
  float loudness;  ///< 1 / distance
};
/// d - d0 = (d^2 - d0^2) / (d + d0), `longer` = d^2 - d0^2. As spherical_math.hpp has it where a detector touches a voxel;
/// `least` is the square of a hundredth of the spacing.
ECHOFORM_HOST_DEVICE TileArrival tile_arrival(const HeardTile& heard, float longer, float least) {
  const float square = fmaxf(heard.square + longer, least);
  const float inverse = near_inverse_root(square);
  const float both = fmaf(square, inverse, heard.distance);
  return {fmaf(longer, near_reciprocal(both), heard.rest), inverse};
}

/// Samples that sound takes across a side of the element, as time_across() has it.
ECHOFORM_HOST_DEVICE float tile_time(float of_middle, const float slope[3], const float offset[3], float loudness) {
  return fabsf(fmaf(offset[2], slope[2], fmaf(offset[1], slope[1], fmaf(offset[0], slope[0], of_middle)))) * loudness;
}

struct CellPlace {
  std::int32_t cell;
  float u;  ///< from its middle, -1/2 .. 1/2
};
/// The cell of a time within -1/2 .. 4 million.
ECHOFORM_HOST_DEVICE CellPlace cell_at(float time) {
  // 1.5 x 2^23: a sum with it is a whole number, and its bits are that number's.
  constexpr float magic = 12582912.0F;
  const float whole = time + magic;
  CellPlace place;
  place.u = time - (whole - magic);
#if defined(__CUDA_ARCH__)
  place.cell = __float_as_int(whole) - 0x4B400000;
#else
  std::int32_t bits;
  memcpy(&bits, &whole, sizeof(bits));
  place.cell = bits - 0x4B400000;
#endif
  return place;
}

}  // namespace echoform::spherical
