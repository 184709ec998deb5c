// What images are made of, as text, so that it can be compared on another day.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

/// Every setting that affects the images of given frames, on every machine, a line each in the order of the documentation:
/// "[material] longitudinal_velocity = 6320". A key that is not set has no line. Files that are named have their size and a
/// sum of their bytes after the name (FNV-1a). Settings of how images are shown, of endpoints, of backends, and of the
/// simulated source are left out.
[[nodiscard]] std::vector<std::string> imaging_lines(const Configuration& configuration);

}  // namespace echoform
