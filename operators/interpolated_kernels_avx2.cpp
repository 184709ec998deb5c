#include "operators/interpolated_kernels_body.hpp"

namespace echoform::interpolated {

const RingKernels ring_kernels_avx2 = {&gather_ring, &scatter_ring};

}  // namespace echoform::interpolated
