// What the server tells of a scan, and how it is cleared: [scan].
#pragma once

#include "apps/doors.hpp"

namespace echoform {

/// No sink where every frame is an image of its own.
[[nodiscard]] OpenSink open_scan(const Configuration& configuration);

}  // namespace echoform
