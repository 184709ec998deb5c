#include "operators/spherical_kernels_body.hpp"

namespace echoform::spherical {

const SphericalKernels spherical_kernels_avx512 = {{&spread_points, &gather_points}, {&spread_rectangles, &gather_rectangles}};

}  // namespace echoform::spherical
