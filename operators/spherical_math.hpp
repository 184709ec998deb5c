// Arrival times and amplitudes of the sound of a row's spherical voxels, for host and device. Times are in samples of the
// grid that is spread on; the unit of length is the path of sound in one such sample.
#pragma once

#include <math.h>

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::spherical {

/// Voxels of a row that are processed together, relative to the one in their middle: single precision then gives arrivals to
/// 1e-5 samples, however far away the detector is.
inline constexpr std::int32_t piece = 64;

/// A detector. The element's axes are `across` and `along`, each times the element's size in that direction, or 0.
struct Listener {
  double place[3];  ///< x, y, z, as all threes here
  double across[3];
  double along[3];
};

/// Places of voxels.
struct Lattice {
  double first[3];
  double spacing;
};

/// A piece of a row along x as one detector receives it.
struct Heard {
  float origin;    ///< x of voxel 0 from the reference
  float spacing;   ///< along x
  float slope;     ///< twice the reference's x from the detector
  float distance;  ///< of the reference
  float rest;      ///< its arrival, after sample `cell`
  std::int32_t cell;
  float across;  ///< from the detector to the reference, by the element's axes
  float across_slope;
  float along;
  float along_slope;
};

/// What the detector receives of `count` voxels from `x` on in row (y, z); sample 0 of the grid is `shift` samples after the
/// pulse of light.
ECHOFORM_HOST_DEVICE Heard heard_by(const Listener& listener, const Lattice& lattice, const std::int64_t at[3],
                                    std::int32_t count, double shift) {
  double way[3];
  const double middle = static_cast<double>(count / 2);
  for (int a = 0; a < 3; ++a) {
    way[a] = lattice.first[a] + (static_cast<double>(at[a]) + (a == 0 ? middle : 0.0)) * lattice.spacing - listener.place[a];
  }
  const double distance = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
  const double arrival = distance - shift;
  const double cell = floor(arrival);
  constexpr double far = 1e9;  // and out of every grid
  Heard heard;
  heard.origin = static_cast<float>(-middle * lattice.spacing);
  heard.spacing = static_cast<float>(lattice.spacing);
  heard.slope = static_cast<float>(2.0 * way[0]);
  heard.distance = static_cast<float>(distance);
  heard.rest = static_cast<float>(arrival - cell);
  heard.cell = static_cast<std::int32_t>(cell < -far ? -far : cell > far ? far : cell);
  heard.across = static_cast<float>(way[0] * listener.across[0] + way[1] * listener.across[1] + way[2] * listener.across[2]);
  heard.across_slope = static_cast<float>(listener.across[0]);
  heard.along = static_cast<float>(way[0] * listener.along[0] + way[1] * listener.along[1] + way[2] * listener.along[2]);
  heard.along_slope = static_cast<float>(listener.along[0]);
  return heard;
}

struct Arrival {
  std::int32_t cell;  ///< sample at or before it
  float rest;         ///< after that, 0 .. 1, both included
  float loudness;     ///< 1 / distance
};

/// Sample at or before `time`, and what is left.
ECHOFORM_HOST_DEVICE Arrival split(float time, std::int32_t from, float loudness) {
  std::int32_t whole = static_cast<std::int32_t>(time);
  whole -= time < static_cast<float>(whole) ? 1 : 0;
  return {from + whole, time - static_cast<float>(whole), loudness};
}

/// The arrival from voxel k: d - d0 = (d^2 - d0^2) / (d + d0). Detectors are outside voxels; one that touches a voxel's
/// centre receives its sound as if it were a hundredth of the spacing away.
ECHOFORM_HOST_DEVICE Arrival arrival_of(const Heard& heard, std::int32_t k) {
  const float x = heard.origin + static_cast<float>(k) * heard.spacing;
  const float more = x * (x + heard.slope);
  const float square = heard.distance * heard.distance + more;
  const float least = 1e-4F * heard.spacing * heard.spacing;
  const float distance = sqrtf(square > least ? square : least);
  const float both = distance + heard.distance;
  const float inverse = 1.0F / (distance * both);
  return split(heard.rest + more * (inverse * distance), heard.cell, inverse * both);
}

/// Samples that sound takes across the element, from its one side to the other, as the far field has it.
ECHOFORM_HOST_DEVICE float time_across(const Heard& heard, std::int32_t k, float loudness) {
  return fabsf(heard.across + (heard.origin + static_cast<float>(k) * heard.spacing) * heard.across_slope) * loudness;
}
ECHOFORM_HOST_DEVICE float time_along(const Heard& heard, std::int32_t k, float loudness) {
  return fabsf(heard.along + (heard.origin + static_cast<float>(k) * heard.spacing) * heard.along_slope) * loudness;
}

/// A box of width T and area 1 as impulses: its two ends, +1/T and -1/T, to be integrated once; or, below a sample, three by
/// Gauss, which are off by less than (wT)^6 / 2,016,000, 1e-5 at a quarter of the rate.
struct Box {
  std::int32_t count;
  std::int32_t integrals;
  float shift[3];
  float factor[3];
};
ECHOFORM_HOST_DEVICE Box box_of(float duration) {
  if (duration >= 1.0F) {
    const float height = 1.0F / duration;
    return {2, 1, {-0.5F * duration, 0.5F * duration, 0.0F}, {height, -height, 0.0F}};
  }
  constexpr float node = 0.387298335F;  // sqrt(3 / 5) / 2
  return {3, 0, {-node * duration, 0.0F, node * duration}, {5.0F / 18.0F, 8.0F / 18.0F, 5.0F / 18.0F}};
}

}  // namespace echoform::spherical
