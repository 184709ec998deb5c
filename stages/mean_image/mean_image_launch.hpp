// Launch of means of images on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace echoform {

/// Maximum number of images of a launch.
inline constexpr std::size_t mean_image_inputs = 32;

struct MeanImageRows {
  const float* in[mean_image_inputs] = {};
  std::size_t in_stride[mean_image_inputs] = {};  ///< of rows, in floats
  std::size_t count = 0;                          ///< of images
  float* out = nullptr;                           ///< rows without gaps
  std::size_t columns = 0;
  bool continued = false;        ///< whether `out` has the sum of the images of earlier launches
  bool last = false;             ///< whether the sum is whole
  float part = 1.0F;             ///< factor of the whole sum; 1 for one image
  const float* shown = nullptr;  ///< in device memory: a ShownPart as a number
};

void launch_mean_image(const MeanImageRows& work, std::size_t rows, cudaStream_t stream) noexcept;

}  // namespace echoform
