#include "stages/envelope/envelope_kernels_body.hpp"

namespace echoform {

EnvelopeKernels envelope_kernels_avx2() {
  return {&envelope_row, &add_envelope_row};
}

}  // namespace echoform
