#include "stages/envelope/envelope_kernels_body.hpp"

namespace echoform {

EnvelopeKernels envelope_kernels_avx512() {
  return {&envelope_row, &add_envelope_row};
}

}  // namespace echoform
