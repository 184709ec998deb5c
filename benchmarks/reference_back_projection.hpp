// The plain loops against which the speed of back-projection is quoted. FROZEN: the figures in docs/performance.md are ratios to
// exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <cstddef>

namespace echoform::reference {

/// Detectors around a volume; lengths in metres, times in seconds.
struct Projection {
  std::size_t columns = 0;  ///< voxels along x
  std::size_t rows = 0;     ///< along y
  std::size_t planes = 0;   ///< along z
  float first_x = 0.0F;
  float first_y = 0.0F;
  float first_z = 0.0F;
  float spacing = 0.0F;  ///< of voxels, along every axis
  std::size_t detectors = 0;
  const float* x = nullptr;  ///< of each detector; likewise below
  const float* y = nullptr;
  const float* z = nullptr;
  const float* normal_x = nullptr;  ///< of length 1, inwards
  const float* normal_y = nullptr;
  const float* normal_z = nullptr;
  const float* weight = nullptr;
  std::size_t samples = 0;  ///< of a detector, one detector's behind the other's
  float velocity = 0.0F;
  float sample_rate = 0.0F;
  float start_time = 0.0F;  ///< of sample 0
};

/// image[z, y, x] = sum over detectors of weight times data[detector, sample] at distance / velocity, between samples linear and
/// nothing outside of them. Distances are worked out for every detector, one voxel at a time, OpenMP over rows of voxels on
/// `threads` threads. What filtered back-projection does with its terms (2 p / (c t) + p' / c).
void filtered_back_projection_loop(const Projection& task, const float* data, float* image, int threads);

/// The same with max(0, n . v) / |v|^3 for each detector and voxel beside the weight, v the vector from one to the other:
/// what universal back-projection does with its terms (2 p - 2 t p'), weights being areas.
void universal_back_projection_loop(const Projection& task, const float* data, float* image, int threads);

}  // namespace echoform::reference
