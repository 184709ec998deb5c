#include "operators/spherical_kernels.hpp"

#include "operators/spherical_kernels_body.hpp"

namespace echoform::spherical {

const SphericalKernels spherical_kernels_portable = {{&spread_points, &gather_points}, {&spread_rectangles, &gather_rectangles}};

SphericalKernels spherical_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return spherical_kernels_avx512;
  if (level == SimdLevel::avx2) return spherical_kernels_avx2;
#endif
  return spherical_kernels_portable;
}

}  // namespace echoform::spherical
