#include "stages/decoding/decoding_kernels_body.hpp"

namespace echoform {

DecodingKernels decoding_kernels_avx2() {
  return decoding_loops::kernels_of_level();
}

}  // namespace echoform
