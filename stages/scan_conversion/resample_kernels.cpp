#include "stages/scan_conversion/resample_kernels_body.hpp"

namespace echoform {

ResampleKernels resample_kernels_portable() {
  return kernels();
}

ResampleKernels resample_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return resample_kernels_avx512();
  if (level == SimdLevel::avx2) return resample_kernels_avx2();
#endif
  return resample_kernels_portable();
}

}  // namespace echoform
