#include "stages/element_map.cuh"
#include "stages/unmixed_image/unmixed_image_launch.hpp"
#include "stages/unmixed_image/unmixed_image_math.hpp"

namespace echoform {
namespace {

constexpr unsigned search_threads = 256;
constexpr unsigned search_blocks = 264;  // two per multiprocessor of the largest GPU in mind

/// Sums above 0 are compared as integers, in any order: floats that are not negative are ordered as their bits.
__global__ void __launch_bounds__(search_threads) find_greatest_sum(const UnmixedRows work) {
  float greatest = 0.0F;
  for (std::size_t row = blockIdx.x; row < work.rows; row += gridDim.x) {
    const float* const a = work.component + row * work.in_stride;
    const float* const b = work.other + row * work.in_stride;
    for (std::size_t k = threadIdx.x; k < work.columns; k += search_threads) {
      const float sum = __ldg(a + k) + __ldg(b + k);
      greatest = sum > greatest ? sum : greatest;  // skips NaN
    }
  }
  const std::uint32_t bits = __reduce_max_sync(0xffffffffU, __float_as_uint(greatest));
  if (threadIdx.x % 32 == 0 && bits > 0) atomicMax(work.greatest, bits);
}

struct TakeComponent {
  UnmixedRows at;
  __device__ void operator()(std::size_t row, std::size_t k) const {
    at.out[row * at.columns + k] = __ldg(at.component + row * at.in_stride + k);
  }
};

struct TakeShare {
  UnmixedRows at;
  __device__ void operator()(std::size_t row, std::size_t k) const {
    const auto least = static_cast<float>(*at.threshold * static_cast<double>(__uint_as_float(*at.greatest)));
    const std::size_t place = row * at.in_stride + k;
    at.out[row * at.columns + k] = share_of(__ldg(at.component + place), __ldg(at.other + place), least);
  }
};

}  // namespace

void launch_unmixed_image(const UnmixedRows& work, cudaStream_t stream) noexcept {
  if (work.other == nullptr) {
    gpu::launch_map(work.rows, work.columns, TakeComponent{work}, stream);
    ECHOFORM_CUDA_LAUNCHED("unmixed image");
    return;
  }
  ECHOFORM_CUDA_QUEUED(cudaMemsetAsync(work.greatest, 0, sizeof(*work.greatest), stream));
  find_greatest_sum<<<search_blocks, search_threads, 0, stream>>>(work);
  ECHOFORM_CUDA_LAUNCHED("greatest of unmixed images");
  gpu::launch_map(work.rows, work.columns, TakeShare{work}, stream);
  ECHOFORM_CUDA_LAUNCHED("share of unmixed images");
}

}  // namespace echoform
