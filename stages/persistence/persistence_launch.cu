#include "stages/element_map.cuh"
#include "stages/persistence/persistence_launch.hpp"
#include "stages/persistence/persistence_math.hpp"

namespace echoform {
namespace {

struct Fade {
  FadingRows at;
  std::size_t columns;
  __device__ void operator()(std::size_t row, std::size_t n) const {
    const std::size_t pixel = row * columns + n;
    const float before = at.before[pixel];
    const float shown = faded(before, __ldg(at.in + row * at.in_stride + n), __ldg(at.share));
    at.out[pixel] = shown;
    at.before[pixel] = kept_of(before, shown);
  }
};

}  // namespace

void launch_persistence(const FadingRows& work, std::size_t rows, std::size_t columns, cudaStream_t stream) noexcept {
  gpu::launch_map(rows, columns, Fade{work, columns}, stream);
  ECHOFORM_CUDA_LAUNCHED("persistence");
}

}  // namespace echoform
