// What figures show of images whose axes are not x and z of the part, as range and angle of a sector: their display image.
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

/// Place among the recipe's outputs of the display image that figures show instead of the view's envelope: one whose axes mean
/// something else than the envelope's, which then do not lie as the part does. Nothing where the envelope itself is to be shown.
[[nodiscard]] std::optional<std::size_t> display_for_figures(const Recipe& recipe, std::string_view view);

/// Makes the file say what the pixels of `image` are and how they are shown. `reference`: what its frame shows as 0 dB, or as the
/// end of a scale of numbers, gain included; 0 where none does, so that a fixed one of `scale` counts, or the image's own peak.
void describe_pixels(ImageFile& file, const OutputDescription& image, const DisplayScale& scale, double reference = 0.0);

/// Makes the image one of `levels` of file.scale, uint8 on file.grid: in decibels 255 is 0 dB, gain included, and 0 the lower end
/// of file.dynamic_range_db or outside of what was imaged. `envelope` holds its values and has to outlive the file.
void show_levels(ImageFile& file, std::span<const std::byte> levels, std::vector<float>& envelope);

}  // namespace echoform
