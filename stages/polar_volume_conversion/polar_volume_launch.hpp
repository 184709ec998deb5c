// Launches of the polar volume conversion on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/polar_volume_conversion/polar_volume_math.hpp"

namespace echoform::polar {

/// Arguments of a launch: VolumePlaces in device memory, and sizes.
struct VolumeConversion {
  const VoxelRow* voxel_rows = nullptr;
  const std::uint32_t* azimuth = nullptr;
  const std::uint32_t* axial = nullptr;
  const std::uint32_t* elevation = nullptr;
  VolumeBits bits;
  std::uint32_t rows = 0;  ///< of the output, [z, y]
  std::uint32_t columns = 0;
  std::uint32_t rows_of_plane = 0;  ///< y
  std::uint32_t azimuths = 0;
  std::uint32_t elevations = 0;
  std::uint32_t samples = 0;
  std::uint32_t input_stride = 0;
  float alpha = -0.5F;
};

void launch(const VolumeConversion& conversion, ScanInterpolation how, const std::uint8_t* input, std::uint8_t* output,
            cudaStream_t stream) noexcept;
void launch(const VolumeConversion& conversion, ScanInterpolation how, const float* input, float* output,
            cudaStream_t stream) noexcept;

}  // namespace echoform::polar
