// What of a plan is likely to disappoint, whatever the samples hold: said in the log of whoever makes images, and by `plan`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform {

/// Pixels all over a grid, both ends of each axis among them: up to 64 along an axis of an image, 16 of a volume.
[[nodiscard]] std::vector<Point> some_pixels(const Grid& grid);

/// Pixels that stay dark since the A-scan has none of their samples, for any pair of living elements that fire and that record:
/// how far the image asks, what the A-scan holds, and the share of the pixels by view. A line for what lies beyond its end, one
/// for what lies before its begin. Less than a sample is not counted: a default grid ends with the A-scan. Shares are of up to 64
/// x 64 pixels that lie evenly.
[[nodiscard]] std::vector<std::string> unsampled_warnings(const ImagingPlan& plan);

/// Half-summed data under weights or views that tell s_ij from s_ji, of which it holds the sum alone.
[[nodiscard]] std::optional<std::string> half_summed_warning(const ImagingPlan& plan);

/// Weights of the elements that fire, of which events of several take none.
[[nodiscard]] std::optional<std::string> unweighed_warning(const ImagingPlan& plan);

/// The first plane wave that states a slowness across the row of its elements, which their delays do not send.
[[nodiscard]] std::optional<std::string> unsent_warning(const ImagingPlan& plan);

/// Pixels that lie nearer to some element than its far field begins, of which the weights of [apodization] directivity are: a
/// share of up to 64 x 64 pixels that lie evenly, of the first view where it is 1 % and more.
[[nodiscard]] std::optional<std::string> near_field_warning(const ImagingPlan& plan);

/// All of these.
[[nodiscard]] std::vector<std::string> plan_warnings(const ImagingPlan& plan);

}  // namespace echoform
