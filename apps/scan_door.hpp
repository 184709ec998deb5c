// The server's reports on a scan, and the control action that clears the scan: [scan].
#pragma once

#include "apps/doors.hpp"

namespace echoform {

/// Opens the sink of scans; none where every frame is an image of its own.
[[nodiscard]] OpenSink open_scan(const Configuration& configuration);

}  // namespace echoform
