// Launches of the wall filter on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Ensembles in device memory.
struct WallFilterSamples {
  const float* in = nullptr;
  std::size_t stride = 0;      ///< from a sample to the next, in floats
  std::size_t quadrature = 0;  ///< for planar samples: distance from a real part to its imaginary part; 0: interleaved
  std::size_t lines = 0;
  std::size_t ensemble = 0;
  std::size_t ranges = 0;
};

struct WallFilterWork {
  WallFilterSamples samples;
  const float* matrix_re = nullptr;  ///< [m][n]
  const float* matrix_im = nullptr;  ///< null: all 0
  std::size_t filtered = 0;
  float2* out = nullptr;
  std::size_t out_stride = 0;  ///< of rows; numbers beyond the ranges become 0
};

void launch_wall_filter(const WallFilterWork& work, cudaStream_t stream) noexcept;

/// The filter of a frame: I - V V'.
struct ClutterWork {
  WallFilterSamples samples;
  std::size_t components = 0;
  double2* products = nullptr;  ///< [clutter_parts][ensemble][ensemble]
  double2* matrices = nullptr;  ///< 2 [ensemble][ensemble], for ensembles beyond clutter_in_shared_memory
  float* matrix_re = nullptr;   ///< [m][n]
  float* matrix_im = nullptr;
};

void launch_find_clutter(const ClutterWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
