// Launches of the scan conversion on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform {

/// Taps of one axis in device memory, with the members of AxisTaps (scan_conversion_math.hpp).
struct DeviceTaps {
  const std::int32_t* index = nullptr;
  const float* weight = nullptr;
  std::uint32_t count = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Resampling {
  std::size_t taps = 0;  ///< of either axis: 1, 2 or 4
  DeviceTaps rows;
  DeviceTaps columns;
  std::size_t input_stride = 0;
};

void launch_resample(const Resampling& resampling, const std::uint8_t* input, std::uint8_t* output, cudaStream_t stream);
void launch_resample(const Resampling& resampling, const float* input, float* output, cudaStream_t stream);

}  // namespace echoform
