// Arithmetic of the polar volume conversion, the same bits on host and device.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"
#include "stages/polar_scan_conversion/polar_math.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform::polar {

/// Voxels of a row [z, y] from the first to the last inside, and where their places stand.
struct VoxelRow {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  std::uint32_t place = 0;
};

/// Number of cell bits in the fixed-point places of each axis (polar_math.hpp).
struct VolumeBits {
  unsigned axial = 0;
  unsigned azimuth = 0;
  unsigned elevation = 0;
};

/// Offsets from the cell of a voxel, each in [0, 1).
struct VolumeOffsets {
  float axial;
  float azimuth;
  float elevation;
};

/// `taps(sample, elevation, azimuth)` is the number at the cell's sample + `sample` (0, 1), elevation - 1 + `elevation` and
/// azimuth - 1 + `azimuth` (0 to 3).
template <ScanInterpolation how, class Taps>
ECHOFORM_HOST_DEVICE float voxel_value(const Taps& taps, const VolumeOffsets& at, float alpha) {
  if constexpr (how == ScanInterpolation::nearest) {
    return taps(0, 1, 1);
  } else if constexpr (how == ScanInterpolation::bilinear) {
    const auto plane = [&](int sample) {
      return lerp(lerp(taps(sample, 1, 1), taps(sample, 1, 2), at.azimuth),
                  lerp(taps(sample, 2, 1), taps(sample, 2, 2), at.azimuth), at.elevation);
    };
    return lerp(plane(0), plane(1), at.axial);
  } else {
    const CubicWeights across = cubic_weights(at.azimuth, alpha);
    const CubicWeights up = cubic_weights(at.elevation, alpha);
    const auto row = [&](int sample, int elevation) {
      return cubic_sum(across, taps(sample, elevation, 0), taps(sample, elevation, 1), taps(sample, elevation, 2),
                       taps(sample, elevation, 3));
    };
    const auto plane = [&](int sample) { return cubic_sum(up, row(sample, 0), row(sample, 1), row(sample, 2), row(sample, 3)); };
    return lerp(plane(0), plane(1), at.axial);
  }
}

}  // namespace echoform::polar
