// What images are made of, as text: so that it can be told again from another day's.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

/// Every setting that decides what images of given frames hold, on whatever machine, a line each in the order of the
/// documentation:
/// "[material] longitudinal_velocity = 6320". What is not set has no line; files that are named have their size and a sum of
/// their bytes behind the name (FNV-1a). Not those of how images are shown, of doors, of backends, and of the simulated source.
[[nodiscard]] std::vector<std::string> imaging_lines(const Configuration& configuration);

}  // namespace echoform
