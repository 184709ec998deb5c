// Figures of images whose axes are not x and z of the part, such as range and angle of a sector: they show the display image.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/image_writer.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/recipe.hpp"

namespace echoform {

/// Whether these are the axes of a plane of the part: x and z, both in metres.
[[nodiscard]] bool is_plane_of_part(const Meaning& x, const Meaning& z);

/// Index among the recipe's outputs of the display image that figures show instead of the view's envelope. Its axes differ
/// from those of the envelope, which are not axes of the part. Nothing where the envelope itself is to be shown.
[[nodiscard]] std::optional<std::size_t> display_for_figures(const Recipe& recipe, std::string_view view);

/// States in the file what the pixels of `image` are and how they are shown. `reference` is the value that its frame shows
/// as 0 dB, or as the end of a scale of numbers, including the gain. If it is 0, the fixed reference of `scale` counts, or
/// else the image's own peak.
void describe_pixels(ImageFile& file, const OutputDescription& image, const DisplayScale& scale, double reference = 0.0);

/// Makes the image one of `levels` of file.scale, uint8 on file.grid: in decibels 255 is 0 dB, gain included, and 0 the lower end
/// of file.dynamic_range_db or outside of what was imaged. `envelope` holds its values and has to outlive the file.
void show_levels(ImageFile& file, std::span<const std::byte> levels, std::vector<float>& envelope);

}  // namespace echoform
