#include "stages/back_projection_term/term_launch.hpp"
#include "stages/element_map.cuh"

namespace echoform {
namespace {

struct Term {
  TermRows at;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    constexpr int reach = DerivativeWeights::reach;
    float* const out = at.out + row * at.out_stride + n;
    if (n >= at.columns) {
      *out = 0.0F;
      return;
    }
    const float* const in = at.in + row * at.in_stride;
    // A row continues beyond its ends with its last value.
    const auto last = static_cast<std::ptrdiff_t>(at.columns) - 1;
    float near[2 * reach + 1];
#pragma unroll
    for (int k = -reach; k <= reach; ++k) {
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(n) + k;
      near[k + reach] = __ldg(in + (place < 0 ? 0 : place > last ? last : place));
    }
    *out = projected_term(near + reach, {__ldg(at.value + n), __ldg(at.slope + n)}, at.weights);
  }
};

}  // namespace

void launch_terms(const TermRows& work, std::size_t rows, cudaStream_t stream) noexcept {
  gpu::launch_map(rows, work.out_stride, Term{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("back-projection term");
}

}  // namespace echoform
