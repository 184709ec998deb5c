// [output] and [display]: from the envelope to the display image, for every method that has one.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "base/units.hpp"
#include "pipeline/imaging_setup.hpp"
#include "stages/compression/compression_options.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

/// [output] holds the options of the compression.
using OutputSection = Compression;

/// Where a value is absent, [grid] states it.
struct DisplaySection {
  std::optional<std::array<Metres, 2>> x;
  std::optional<std::array<Metres, 2>> z;
  std::optional<std::array<std::size_t, 2>> pixels;
  ScanInterpolation interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;
};

/// Throws InputError, naming `where` and `key`, for a value out of its range.
void require_range(std::string_view where, std::string_view key, double value, const Interval& range);
/// Throws InputError, naming `where`, unless every option is in its range.
void validate(const Compression& compression, std::string_view where);
/// The grid of display images of `grid`, if it differs from `grid`. Throws InputError, naming `where`, for a volume with a
/// display grid of its own, and for a grid that is out of range.
[[nodiscard]] std::optional<Grid> shown_grid(const DisplaySection& display, const Grid& grid, std::string_view where);
/// Adds a warning where [display] interpolation is stated but display images are on the imaging grid.
void warn_of_interpolation(const DisplaySection& display, const std::optional<Grid>& shown, std::string_view where,
                           std::vector<std::string>& warnings);
/// The scale on which display images of this compression show envelopes.
[[nodiscard]] DisplayScale scale_of(const Compression& compression);

}  // namespace echoform
