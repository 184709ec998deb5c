#include "gpu/cuda_check.hpp"
#include "stages/wall_filter/wall_filter_launch.hpp"
#include "stages/wall_filter/wall_filter_math.hpp"
#include "stages/wall_filter/wall_filter_samples.cuh"

namespace echoform {
namespace {

constexpr unsigned threads = 128;

/// A thread handles one range of a line and computes `group` outputs at a time in registers, so that each sample is read once for
/// all of them. The coefficients lie in shared memory, [n][group]: the real parts, then the imaginary parts in the same layout.
template <unsigned group, bool complex, bool planar>
__global__ void __launch_bounds__(threads) filter_ensembles(const WallFilterWork at) {
  extern __shared__ float coefficients[];
  const std::size_t ensemble = at.samples.ensemble;
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  for (std::size_t first = 0; first < at.filtered; first += group) {
    __syncthreads();
    for (std::size_t place = threadIdx.x; place < group * ensemble; place += threads) {
      const std::size_t m = first + place % group;
      const std::size_t entry = m * ensemble + place / group;
      coefficients[place] = m < at.filtered ? at.matrix_re[entry] : 0.0F;
      if constexpr (complex) coefficients[group * ensemble + place] = m < at.filtered ? at.matrix_im[entry] : 0.0F;
    }
    __syncthreads();
    if (k >= at.out_stride) continue;
    for (std::size_t line = blockIdx.y; line < at.samples.lines; line += gridDim.y) {
      float re[group] = {};
      float im[group] = {};
      if (k < at.samples.ranges) {
#pragma unroll 4
        for (std::size_t n = 0; n < ensemble; ++n) {
          const float2 x = wall_filter_sample<planar>(at.samples, line * ensemble + n, k);
          const float* const a = coefficients + n * group;
#pragma unroll
          for (unsigned m = 0; m < group; ++m) {
            if constexpr (complex) {
              add_product(a[m], a[group * ensemble + m], x.x, x.y, re[m], im[m]);
            } else {
              re[m] += a[m] * x.x;
              im[m] += a[m] * x.y;
            }
          }
        }
      }
#pragma unroll
      for (unsigned m = 0; m < group; ++m) {
        if (first + m < at.filtered) at.out[(line * at.filtered + first + m) * at.out_stride + k] = {re[m], im[m]};
      }
    }
  }
}

template <unsigned group, bool complex, bool planar>
void launch(const WallFilterWork& work, cudaStream_t stream) noexcept {
  const dim3 grid(static_cast<unsigned>((work.out_stride + threads - 1) / threads),
                  static_cast<unsigned>(work.samples.lines < 65535 ? work.samples.lines : 65535));
  const std::size_t shared = group * work.samples.ensemble * (complex ? 2 : 1) * sizeof(float);
  filter_ensembles<group, complex, planar><<<grid, threads, shared, stream>>>(work);
}

template <unsigned group>
void launch_group(const WallFilterWork& work, cudaStream_t stream) noexcept {
  const bool planar = work.samples.quadrature != 0;
  if (work.matrix_im == nullptr) {
    planar ? launch<group, false, true>(work, stream) : launch<group, false, false>(work, stream);
  } else {
    planar ? launch<group, true, true>(work, stream) : launch<group, true, false>(work, stream);
  }
}

}  // namespace

void launch_wall_filter(const WallFilterWork& work, cudaStream_t stream) noexcept {
  if (work.filtered <= 8) {
    launch_group<8>(work, stream);
  } else {
    launch_group<16>(work, stream);
  }
  ECHOFORM_CUDA_LAUNCHED("wall filter");
}

}  // namespace echoform
