#include "stages/compression/compression_kernels_body.hpp"

namespace echoform {

CompressionKernels compression_kernels_portable() {
  return {&peak_of, &peak_of_magnitudes, &compress_row, &masked_row, &number_row};
}

CompressionKernels compression_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return compression_kernels_avx512();
  if (level == SimdLevel::avx2) return compression_kernels_avx2();
#endif
  return compression_kernels_portable();
}

}  // namespace echoform
