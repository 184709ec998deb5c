// How sharp live images are, for who turns a velocity: of methods whose images say so (Method::tells_sharpness()).
#pragma once

#include <span>

#include "apps/doors.hpp"

namespace echoform {

/// The variance of the values' magnitudes over the square of their mean; 0 of nothing but zeros. Values that are not finite
/// count for nothing. Of a scene that stays it is largest where echoes of a point meet in one; it does not depend on the gain.
[[nodiscard]] double sharpness_of(std::span<const float> values);

/// No sink where the method's images do not tell it.
[[nodiscard]] OpenSink open_sharpness(const Configuration& configuration);

}  // namespace echoform
