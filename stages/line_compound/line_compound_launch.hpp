// Launch of the compounding of lines on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "stages/line_compound/line_compound_math.hpp"

namespace echoform {

/// Arguments of a launch. Pointers are to device memory.
struct LineCompoundWork {
  const float* in = nullptr;
  float* out = nullptr;  ///< rows without gaps
  const CompoundSet* sets = nullptr;
  const RangePlace* places = nullptr;  ///< [set, range]
  const float* all = nullptr;          ///< 0: the image's own set alone
  std::size_t count = 0;               ///< of sets
  std::size_t image = 0;
  std::size_t first_row = 0;  ///< of the image's own set
  std::size_t in_stride = 0;  ///< of rows, in floats
  std::size_t ranges = 0;
};

void launch_line_compound(const LineCompoundWork& work, std::size_t lines, cudaStream_t stream) noexcept;

}  // namespace echoform
