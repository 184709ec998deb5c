// How far the crop to the gate changes an image: what a live run gives up for speed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "formats/recording.hpp"
#include "methods/method.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

/// Images `frame` of the recording as `request` states, once whole and once cropped to the samples that are needed. Returns
/// a line for each view: the relative L2 distance of the complex images, and the distance of their peaks in dB. Returns one
/// line where there is nothing to crop.
[[nodiscard]] std::vector<std::string> crop_distance(const Method& method, const ImagingRequest& request, Recording& recording,
                                                     std::size_t frame, const BackendChoice& choice);

}  // namespace echoform
