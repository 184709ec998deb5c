#include "stages/raw_rows/sample_kernels_body.hpp"

namespace echoform {

RowKernel row_kernel_avx2(SampleEncoding encoding, RowStore store) {
  return choose(encoding, store);
}

}  // namespace echoform
