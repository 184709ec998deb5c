#include "stages/raw_rows/sample_kernels_body.hpp"

namespace echoform {

RowKernel row_kernel_portable(SampleEncoding encoding, RowStore store) {
  return choose(encoding, store);
}

RowKernel row_kernel(SampleEncoding encoding, RowStore store, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return row_kernel_avx512(encoding, store);
  if (level == SimdLevel::avx2) return row_kernel_avx2(encoding, store);
#endif
  return row_kernel_portable(encoding, store);
}

}  // namespace echoform
