#include "engines/group_sums.hpp"
#include "gpu/cuda_check.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned sum_threads = 256;

unsigned sum_blocks(std::size_t pixels) {
  return static_cast<unsigned>((pixels + sum_threads - 1) / sum_threads);
}

/// Each thread adds one pixel.
__global__ void add_to_sums(double2* __restrict__ sums, const float2* __restrict__ image, std::size_t pixels) {
  const std::size_t n = std::size_t{blockIdx.x} * sum_threads + threadIdx.x;
  if (n >= pixels) return;
  const float2 more = image[n];
  double2 sum = sums[n];
  sum.x += static_cast<double>(more.x);
  sum.y += static_cast<double>(more.y);
  sums[n] = sum;
}

__global__ void round_sums(float2* __restrict__ image, const double2* __restrict__ sums, std::size_t pixels) {
  const std::size_t n = std::size_t{blockIdx.x} * sum_threads + threadIdx.x;
  if (n >= pixels) return;
  const double2 sum = sums[n];
  image[n] = make_float2(static_cast<float>(sum.x), static_cast<float>(sum.y));
}

__global__ void add_quality(SampleQuality* sum, const SampleQuality* of_group) {
  sum->clipped += of_group->clipped;
  sum->invalid += of_group->invalid;
}

}  // namespace

void launch_add_to_sums(double2* sums, const float2* image, std::size_t pixels, cudaStream_t stream) noexcept {
  add_to_sums<<<sum_blocks(pixels), sum_threads, 0, stream>>>(sums, image, pixels);
  ECHOFORM_CUDA_LAUNCHED("add_to_sums");
}

void launch_round_sums(float2* image, const double2* sums, std::size_t pixels, cudaStream_t stream) noexcept {
  round_sums<<<sum_blocks(pixels), sum_threads, 0, stream>>>(image, sums, pixels);
  ECHOFORM_CUDA_LAUNCHED("round_sums");
}

void launch_add_quality(SampleQuality* sum, const SampleQuality* of_group, cudaStream_t stream) noexcept {
  add_quality<<<1, 1, 0, stream>>>(sum, of_group);
  ECHOFORM_CUDA_LAUNCHED("add_quality");
}

}  // namespace echoform::gpu
