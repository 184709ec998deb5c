// How far the crop to the gate moves an image: what a live run trades for speed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "formats/recording.hpp"
#include "methods/tfm/plan.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

/// Images `frame` of the recording by `plan` as a whole and cropped with `guard` samples on either side. A line for each view:
/// relative L2 distance of the complex images, and of their peaks in dB. One line where there is nothing to crop.
[[nodiscard]] std::vector<std::string> crop_distance(const ImagingPlan& plan, std::size_t guard, Recording& recording,
                                                     std::size_t frame, const BackendChoice& choice);

}  // namespace echoform
