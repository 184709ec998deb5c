// Lines between two transmit events as the sum of both events' lines at the same place.
//
// Events that each form lines in their own share of the image alone leave seams. On the two sides of a border the sound
// comes from different sides, and echoes beside the lines jump in strength. In blended lines the strength of sound changes
// from one event's to the next one's linearly in the place of the line (its angle in a sector), so there is no border.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "methods/beams/line_fan.hpp"
#include "stages/line_blend/line_blend.hpp"

namespace echoform {

/// One term of the sum that forms a line of the image.
struct LineShare {
  std::size_t component = 0;  ///< place in BlendedLines::components
  double share = 0.0;         ///< above 0; those of a line sum to 1
};

struct BlendedLines {
  std::vector<ImageLine> components;           ///< lines to be formed, each of one event
  std::vector<std::vector<LineShare>> shares;  ///< by line of the image
};

/// Blends lines of which `of_event` lie beside each other for each event. A line between two events has a component of
/// either, weighted by how near it is to their own places. Lines at an event's own place, and lines beyond the outermost
/// events, have one component. In a volume a line between four events has one component of each, whose shares are products
/// of the shares along both axes.
[[nodiscard]] BlendedLines blend_lines(const FannedLines& fanned, const LinesOfEvent& of_event);

using LineGain = std::function<double(std::size_t line, std::size_t range)>;

/// The table for the sum, once the transmit times of the components, [component, range], are known. Where the wave of an
/// event does not reach (its time is NaN), its share goes to the other event; otherwise half of the sound there would be
/// silence, and a line would darken where a beam ends. Where neither wave reaches, the sum is 0. If there is a `gain`,
/// weights are multiplied by its value at line and range.
[[nodiscard]] std::shared_ptr<const LineBlendTable> blend_table(const BlendedLines& lines, std::size_t ranges,
                                                                std::span<const double> transmit_times,
                                                                const LineGain& gain = {});

}  // namespace echoform
