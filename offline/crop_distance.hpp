// How far the crop to the gate moves an image: what a live run trades for speed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "formats/recording.hpp"
#include "methods/method.hpp"
#include "pipeline/engine.hpp"

namespace echoform {

/// Images `frame` of the recording as `request` asks, but whole and cropped to the samples that are needed. A line for each view:
/// relative L2 distance of the complex images, and of their peaks in dB. One line where there is nothing to crop.
[[nodiscard]] std::vector<std::string> crop_distance(const Method& method, const ImagingRequest& request, Recording& recording,
                                                     std::size_t frame, const BackendChoice& choice);

}  // namespace echoform
