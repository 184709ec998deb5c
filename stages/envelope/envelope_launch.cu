#include <cstdint>

#include "stages/element_map.cuh"
#include "stages/envelope/envelope_launch.hpp"
#include "stages/envelope/envelope_math.hpp"

namespace echoform {
namespace {

constexpr unsigned threads = 256;

/// Processes rows that follow each other without gaps, with two numbers per thread.
__global__ void envelope_pairs(const float4* __restrict__ complex, float2* __restrict__ out, std::size_t pairs) {
  const std::size_t n = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (n >= pairs) return;
  const float4 z = __ldg(complex + n);
  out[n] = {magnitude(z.x, z.y), magnitude(z.z, z.w)};
}

struct OfInterleaved {
  const float2* complex;
  std::size_t stride;
  float* out;
  std::size_t columns;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    const float2 z = __ldg(complex + row * stride + n);
    out[row * columns + n] = magnitude(z.x, z.y);
  }
};

struct OfPlanar {
  const float* first;
  std::size_t stride;
  float* out;
  std::size_t columns;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    const float* const re = first + 2 * row * stride + n;
    out[row * columns + n] = magnitude(__ldg(re), __ldg(re + stride));
  }
};

/// Each thread handles one number of a row, for all soundings.
struct MeanOfSoundings {
  const float* first;
  std::size_t row_floats;  ///< distance from a row to the next
  std::size_t step;        ///< distance from a number to the next in a row
  std::size_t quadrature;  ///< distance from a number's real part to its imaginary one
  std::size_t soundings;
  float part;
  float* out;
  std::size_t columns;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    const float* re = first + row * soundings * row_floats + n * step;
    float sum = magnitude(__ldg(re), __ldg(re + quadrature));
    for (std::size_t k = 1; k < soundings; ++k) {
      re += row_floats;
      sum += magnitude(__ldg(re), __ldg(re + quadrature));
    }
    out[row * columns + n] = sum * part;
  }
};

}  // namespace

void launch_mean_envelope(const ComplexRows& complex, std::size_t soundings, float* out, std::size_t rows, std::size_t columns,
                          cudaStream_t stream) noexcept {
  const std::size_t step = complex.planar ? 1 : 2;
  const std::size_t quadrature = complex.planar ? complex.stride : 1;
  const float part = 1.0F / static_cast<float>(soundings);
  gpu::launch_map(rows, columns,
                  MeanOfSoundings{complex.first, 2 * complex.stride, step, quadrature, soundings, part, out, columns}, stream);
  ECHOFORM_CUDA_LAUNCHED("mean envelope");
}

void launch_envelope(const ComplexRows& complex, float* out, std::size_t rows, std::size_t columns,
                     cudaStream_t stream) noexcept {
  // A lead may put rows at addresses where two pixels cannot be read at a time.
  const bool in_pairs = reinterpret_cast<std::uintptr_t>(complex.first) % sizeof(float4) == 0;
  if (complex.planar) {
    gpu::launch_map(rows, columns, OfPlanar{complex.first, complex.stride, out, columns}, stream);
  } else if (in_pairs && complex.stride == columns && rows * columns % 2 == 0) {
    const std::size_t pairs = rows * columns / 2;
    envelope_pairs<<<static_cast<unsigned>((pairs + threads - 1) / threads), threads, 0, stream>>>(
        reinterpret_cast<const float4*>(complex.first), reinterpret_cast<float2*>(out), pairs);
  } else {
    const auto* const first = reinterpret_cast<const float2*>(complex.first);
    gpu::launch_map(rows, columns, OfInterleaved{first, complex.stride, out, columns}, stream);
  }
  ECHOFORM_CUDA_LAUNCHED("envelope");
}

}  // namespace echoform
