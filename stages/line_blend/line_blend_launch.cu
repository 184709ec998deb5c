#include "stages/element_map.cuh"
#include "stages/line_blend/line_blend_launch.hpp"
#include "stages/line_blend/line_blend_math.hpp"

namespace echoform {
namespace {

__device__ __forceinline__ float blend(float sum, float weight, float value) {
  return blended(sum, weight, value);
}
__device__ __forceinline__ float2 blend(float2 sum, float weight, float2 value) {
  return {blended(sum.x, weight, value.x), blended(sum.y, weight, value.y)};
}

/// Each thread handles one range of a line, with all its terms.
template <class Number>
struct Blend {
  LineBlendWork at;
  __device__ void operator()(std::size_t line, std::size_t k) const {
    Number sum{};
    if (k < at.ranges) {
      const std::uint32_t end = __ldg(at.first_terms + line + 1);
      for (std::uint32_t t = __ldg(at.first_terms + line); t < end; ++t) {
        const uint2 term = __ldg(reinterpret_cast<const uint2*>(at.terms) + t);
        const float weight = __ldg(at.weights + term.y * at.ranges + k);
        sum = blend(sum, weight, __ldg(static_cast<const Number*>(at.in) + term.x * at.in_stride + k));
      }
    }
    static_cast<Number*>(at.out)[line * at.out_stride + k] = sum;
  }
};
static_assert(sizeof(BlendTerm) == sizeof(uint2) && offsetof(BlendTerm, weights) == offsetof(uint2, y));

}  // namespace

void launch_line_blend(const LineBlendWork& work, cudaStream_t stream) noexcept {
  if (work.complex) {
    gpu::launch_map(work.lines, work.out_stride, Blend<float2>{work}, stream);
  } else {
    gpu::launch_map(work.lines, work.out_stride, Blend<float>{work}, stream);
  }
  ECHOFORM_CUDA_LAUNCHED("line blend");
}

}  // namespace echoform
