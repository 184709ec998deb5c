// The plain loop against which the polar scan conversion's speed is quoted. FROZEN: the figures in docs/performance.md are ratios
// to exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoform::reference {

/// A curvilinear sector and its image; lengths in metres, angles in radians.
struct PolarScan {
  std::size_t beams = 0;
  std::size_t samples = 0;
  float first_angle = 0.0F;
  float angle_pitch = 0.0F;
  float probe_radius = 0.0F;
  float start_depth = 0.0F;
  float sample_spacing = 0.0F;
  std::size_t rows = 0;     ///< along z
  std::size_t columns = 0;  ///< along x
  float first_x = 0.0F;
  float x_spacing = 0.0F;
  float first_z = 0.0F;
  float z_spacing = 0.0F;
  float alpha = -0.5F;
};

/// image[z, x] of data[beam, sample]: linear along the beam, cubic convolution across beams, 0 outside. Angle and radius are
/// worked out for every pixel, one pixel at a time, OpenMP over rows on `threads` threads.
void polar_scan_loop(const PolarScan& scan, const std::uint8_t* data, std::uint8_t* image, int threads);

}  // namespace echoform::reference
