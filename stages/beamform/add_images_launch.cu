#include "gpu/cuda_check.hpp"
#include "stages/beamform/add_images_launch.hpp"

namespace echoform {
namespace {

constexpr unsigned add_threads = 256;

/// Each thread adds one pixel.
__global__ void add_images(float2* __restrict__ to, const float2* __restrict__ from, std::size_t pixels) {
  const std::size_t n = std::size_t{blockIdx.x} * add_threads + threadIdx.x;
  if (n >= pixels) return;
  const float2 more = __ldg(from + n);
  const float2 sum = to[n];
  to[n] = {sum.x + more.x, sum.y + more.y};
}

}  // namespace

void launch_add_images(float* to, const float* from, std::size_t count, cudaStream_t stream) {
  const std::size_t pixels = count / 2;
  const auto blocks = static_cast<unsigned>((pixels + add_threads - 1) / add_threads);
  add_images<<<blocks, add_threads, 0, stream>>>(reinterpret_cast<float2*>(to), reinterpret_cast<const float2*>(from), pixels);
  ECHOFORM_CUDA_LAUNCHED("addition of images");
}

}  // namespace echoform
