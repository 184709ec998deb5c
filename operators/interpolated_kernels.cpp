#include "operators/interpolated_kernels.hpp"

#include "operators/interpolated_kernels_body.hpp"

namespace echoform::interpolated {

const RingKernels ring_kernels_portable = {&gather_ring, &scatter_ring};

RingKernels ring_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return ring_kernels_avx512;
  if (level == SimdLevel::avx2) return ring_kernels_avx2;
#endif
  return ring_kernels_portable;
}

}  // namespace echoform::interpolated
