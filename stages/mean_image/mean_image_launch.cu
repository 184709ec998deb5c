#include "stages/element_map.cuh"
#include "stages/mean_image/mean_image_launch.hpp"
#include "stages/mean_image/mean_image_math.hpp"

namespace echoform {
namespace {

struct AddImages {
  MeanImageRows at;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    float* const out = at.out + row * at.columns + n;
    const auto value = [&](std::size_t k) { return __ldg(at.in[k] + row * at.in_stride[k] + n); };
    float sum = at.continued ? *out + value(0) : value(0);
    for (std::size_t k = 1; k < at.count; ++k) sum += value(k);
    if (at.last) {
      sum *= at.part;
      const float shown = __ldg(at.shown);
      if (shown == 1.0F) sum = magnitude_of(sum);
      if (shown == 2.0F) sum = without_negative(sum);
    }
    *out = sum;
  }
};

}  // namespace

void launch_mean_image(const MeanImageRows& work, std::size_t rows, cudaStream_t stream) noexcept {
  gpu::launch_map(rows, work.columns, AddImages{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("mean image");
}

}  // namespace echoform
