// Launch of back-projection terms on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "stages/back_projection_term/back_projection_term_math.hpp"

namespace echoform {

struct TermRows {
  const float* in = nullptr;
  float* out = nullptr;
  const float* value = nullptr;  ///< TermFactors of each sample, in device memory
  const float* slope = nullptr;
  DerivativeWeights weights{};
  std::size_t in_stride = 0;  ///< of rows, in floats
  std::size_t columns = 0;
  std::size_t out_stride = 0;  ///< of rows, which end in zeros
};

void launch_terms(const TermRows& work, std::size_t rows, cudaStream_t stream) noexcept;

}  // namespace echoform
