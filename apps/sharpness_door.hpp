// The sharpness of live images, for users who adjust a velocity. It is measured for methods whose images indicate it
// (Method::tells_sharpness()).
#pragma once

#include <span>

#include "apps/doors.hpp"

namespace echoform {

/// The variance of the values' magnitudes over the square of their mean; 0 of nothing but zeros. Values that are not finite
/// count for nothing. For a scene at rest it is largest where the echoes of a point coincide. It does not depend on the
/// gain.
[[nodiscard]] double sharpness_of(std::span<const float> values);

/// Opens the sink that measures it; none where the method's images do not indicate sharpness.
[[nodiscard]] OpenSink open_sharpness(const Configuration& configuration);

}  // namespace echoform
