// Warnings about a plan, whatever the samples hold. They appear in the log of each program that images, and `plan` prints
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/tfm/plan.hpp"

namespace echoform {

/// Pixels all over a grid, both ends of each axis among them: up to 64 along an axis of an image, 16 of a volume.
[[nodiscard]] std::vector<Point> some_pixels(const Grid& grid);

/// Warnings about pixels that stay dark since the A-scan has none of their samples, for any pair of living elements that
/// fire and that record. They state how far the image reaches, what the A-scan holds, and the share of the pixels of each
/// view. One line is about what lies beyond the end of the A-scan, another about what lies before its beginning. Less than
/// a sample is not counted, since a default grid ends with the A-scan. Shares are those of up to 64 x 64 evenly spaced
/// pixels.
[[nodiscard]] std::vector<std::string> unsampled_warnings(const ImagingPlan& plan);

/// A warning about half-summed data with weights or views that distinguish s_ij from s_ji, of which the data hold only the
/// sum.
[[nodiscard]] std::optional<std::string> half_summed_warning(const ImagingPlan& plan);

/// A warning about weights of the elements that fire, which events of several elements do not use.
[[nodiscard]] std::optional<std::string> unweighed_warning(const ImagingPlan& plan);

/// A warning about the first plane wave that states a slowness across the row of its elements, which their delays do not
/// produce.
[[nodiscard]] std::optional<std::string> unsent_warning(const ImagingPlan& plan);

/// A warning about pixels that lie nearer to some element than the beginning of its far field, for which the weights of
/// [apodization] directivity are derived. It states the share of up to 64 x 64 evenly spaced pixels in the first view where
/// that is 1 % or more.
[[nodiscard]] std::optional<std::string> near_field_warning(const ImagingPlan& plan);

/// All warnings about a plan.
[[nodiscard]] std::vector<std::string> plan_warnings(const ImagingPlan& plan);

}  // namespace echoform
