#include <cstdint>

#include "gpu/cuda_check.hpp"
#include "stages/envelope/envelope_launch.hpp"
#include "stages/envelope/envelope_math.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = 256;

/// Rows that follow each other at once, two numbers a thread.
__global__ void envelope_pairs(const float4* __restrict__ complex, float2* __restrict__ out, std::size_t pairs) {
  const std::size_t n = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (n >= pairs) return;
  const float4 z = __ldg(complex + n);
  out[n] = {magnitude(z.x, z.y), magnitude(z.z, z.w)};
}

/// Blocks stride over the rows: there may be more of them than a grid has.
__global__ void envelope_rows(const float2* __restrict__ complex, float* __restrict__ out, std::size_t rows, std::size_t columns,
                              std::size_t stride) {
  const std::size_t n = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (n >= columns) return;
  for (std::size_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const float2 z = __ldg(complex + row * stride + n);
    out[row * columns + n] = magnitude(z.x, z.y);
  }
}

unsigned blocks_for(std::size_t items) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

}  // namespace

void launch_envelope(const float* complex, float* out, std::size_t rows, std::size_t columns, std::size_t stride,
                     cudaStream_t stream) {
  const bool in_pairs = reinterpret_cast<std::uintptr_t>(complex) % sizeof(float4) == 0;
  if (in_pairs && stride == columns && rows * columns % 2 == 0) {
    const std::size_t pairs = rows * columns / 2;
    envelope_pairs<<<blocks_for(pairs), threads, 0, stream>>>(reinterpret_cast<const float4*>(complex),
                                                              reinterpret_cast<float2*>(out), pairs);
  } else {
    const dim3 grid(blocks_for(columns), static_cast<unsigned>(rows < 65535 ? rows : 65535));
    envelope_rows<<<grid, threads, 0, stream>>>(reinterpret_cast<const float2*>(complex), out, rows, columns, stride);
  }
  ECHOFORM_CUDA_LAUNCHED("envelope");
}

}  // namespace echoform
