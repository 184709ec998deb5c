#include "stages/scan_conversion/resample_kernels_body.hpp"

namespace echoform {

ResampleKernels resample_kernels_avx2() {
  return kernels();
}

}  // namespace echoform
