// What images are made with where a setting is left to the data.
#pragma once

#include <string>

#include "config/live_keys.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform {

/// The value of a key as the plan has it, as a file would write it; empty for keys of which a plan tells nothing.
[[nodiscard]] std::string value_in_use(const LiveKey& live, const ImagingPlan& plan);

}  // namespace echoform
