#include "stages/scan_conversion/resample_kernels_body.hpp"

namespace echoform {

ResampleKernels resample_kernels_avx512() {
  return kernels();
}

}  // namespace echoform
