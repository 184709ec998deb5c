// Launch of the blending of lines on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/line_blend/line_blend.hpp"

namespace echoform {

/// Arguments of a launch. Pointers are to device memory.
struct LineBlendWork {
  const void* in = nullptr;  ///< float, or pairs of them
  void* out = nullptr;
  bool complex = false;
  const std::uint32_t* first_terms = nullptr;  ///< [lines + 1]: terms of line l are first_terms[l] ... first_terms[l + 1] - 1
  const BlendTerm* terms = nullptr;
  const float* weights = nullptr;  ///< [table, ranges]
  std::size_t lines = 0;
  std::size_t ranges = 0;
  std::size_t in_stride = 0;   ///< of rows, in numbers of the type
  std::size_t out_stride = 0;  ///< likewise; numbers beyond the ranges become 0
};

void launch_line_blend(const LineBlendWork& work, cudaStream_t stream) noexcept;

}  // namespace echoform
