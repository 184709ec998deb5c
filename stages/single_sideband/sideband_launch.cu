#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/cuda_check.hpp"
#include "stages/single_sideband/sideband_launch.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned threads = 256;

/// The thread of a bin m up to `bins` also handles -m, so that no thread reads what another one writes.
__global__ void __launch_bounds__(threads) make_one_sideband(LineSpectra spectra, std::size_t bins, float scale) {
  const std::size_t samples = spectra.samples;
  for (std::size_t row = blockIdx.y; row < spectra.rows; row += gridDim.y) {
    float2* const line = spectra.data + row * spectra.stride;
    for (std::size_t m = std::size_t{blockIdx.x} * threads + threadIdx.x; m < spectra.stride;
         m += std::size_t{gridDim.x} * threads) {
      if (m >= samples) {
        line[m] = make_float2(0.0F, 0.0F);
      } else if (m == 0) {
        line[0] = make_float2(scale * line[0].x, 0.0F);
      } else if (m <= bins) {
        const float2 here = line[m];
        const float2 there = line[samples - m];
        line[m] = make_float2(scale * (here.x + there.x), scale * (here.y - there.y));
        line[samples - m] = make_float2(0.0F, 0.0F);
      } else if (m < samples - bins) {
        line[m] = make_float2(scale * line[m].x, scale * line[m].y);
      }
    }
  }
}

}  // namespace

void launch_one_sideband(const LineSpectra& spectra, std::size_t bins, cudaStream_t stream) noexcept {
  constexpr std::size_t most_rows_at_a_time = 65535;
  const auto across = static_cast<unsigned>(std::min<std::size_t>((spectra.stride + threads - 1) / threads, 65535));
  const auto down = static_cast<unsigned>(std::min(spectra.rows, most_rows_at_a_time));
  make_one_sideband<<<dim3(across, down), threads, 0, stream>>>(spectra, bins, 1.0F / static_cast<float>(spectra.samples));
  ECHOFORM_CUDA_LAUNCHED("single-sideband");
}

}  // namespace echoform::gpu
