#include "stages/decoding/decoding_kernels_body.hpp"
#include "stages/decoding/decoding_sizes.hpp"

namespace echoform {

static_assert(decoding_loops::block_rows == product_rows);

DecodingKernels decoding_kernels_portable() {
  return decoding_loops::kernels_of_level();
}

DecodingKernels decoding_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return decoding_kernels_avx512();
  if (level == SimdLevel::avx2) return decoding_kernels_avx2();
#endif
  return decoding_kernels_portable();
}

}  // namespace echoform
