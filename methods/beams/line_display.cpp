#include "methods/beams/line_display.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "methods/shown_images.hpp"
#include "stages/polar_scan_conversion/polar_scan_conversion.hpp"
#include "stages/polar_volume_conversion/polar_volume_conversion.hpp"

namespace echoform {
namespace {

// Number of pixels along the longest side.
constexpr std::size_t usual_rows = 512;
constexpr std::size_t usual_rows_of_volumes = 128;
constexpr double most_pixels = 1e6;  // along an axis, before the grid is checked

/// The interval that lines occupy along an axis.
struct ShownSpan {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void hold(Metres at) {
    least = std::min(least, at.value);
    most = std::max(most, at.value);
  }
  [[nodiscard]] Axis axis(const std::optional<std::array<Metres, 2>>& stated) const {
    return stated ? Axis{(*stated)[0], (*stated)[1]} : Axis{Metres(least), Metres(most)};
  }
};

/// The grid relative to `origin`.
Grid seen_from(const Point& origin, Grid grid) {
  const auto move = [](Axis& axis, Metres by) {
    axis.first -= by;
    axis.last -= by;
  };
  move(grid.x, origin.x);
  move(grid.y, origin.y);
  move(grid.z, origin.z);
  return grid;
}

PolarScanConversionOptions polar_options(const BeamsPlan& plan, ScanInterpolation interpolation) {
  const LineFan& fan = plan.fan;
  PolarScanConversionOptions options;
  options.beams = fan.lines;
  options.samples = plan.lines->ranges.count;
  options.sample_spacing = plan.lines->ranges.spacing;
  options.start_depth = plan.lines->ranges.first;
  options.interpolation = interpolation;
  options.cubic_alpha = plan.display.cubic_alpha;
  Point origin = fan.shown(fan.apex);
  if (fan.shape == FanShape::sector) {
    options.angle_pitch = fan.across() ? fan.elevation_pitch : fan.pitch;
    options.first_angle = fan.across() ? fan.first_elevation : fan.first;
    // Lines of one elevation look shorter along y.
    const double level = fan.across() ? 1.0 : std::cos(fan.first_elevation);
    options.probe_radius = level * fan.radius;
    options.sample_spacing = level * options.sample_spacing;
    options.start_depth = level * options.start_depth;
    // In the stage, lines meet at (0, -radius).
    origin.z += options.probe_radius;
  } else {
    options.line_pitch = Metres(fan.pitch);
    options.first_angle = fan.angle;
  }
  options.display = seen_from(origin, plan.display_grid);
  return options;
}

PolarVolumeConversionOptions volume_options(const BeamsPlan& plan, ScanInterpolation interpolation) {
  const LineFan& fan = plan.fan;
  PolarVolumeConversionOptions options;
  options.azimuths = {fan.azimuths(), fan.first, fan.pitch};
  options.elevations = {fan.elevations, fan.first_elevation, fan.elevation_pitch};
  options.samples = plan.lines->ranges.count;
  options.sample_spacing = plan.lines->ranges.spacing;
  options.start_depth = plan.lines->ranges.first;
  options.probe_radius = fan.radius;
  options.interpolation = interpolation;
  options.cubic_alpha = plan.display.cubic_alpha;
  // In the stage, lines meet at (0, 0, -radius).
  options.display = seen_from({fan.apex.x, fan.apex.y, fan.apex.z + fan.radius}, plan.display_grid);
  return options;
}

}  // namespace

Grid resolve_display(const DisplaySection& display, const LineFan& fan, const LineRanges& ranges) {
  ShownSpan x;
  ShownSpan y;
  ShownSpan z;
  for (std::size_t line = 0; line < fan.lines; ++line) {
    const ImageLine along = fan.line(line);
    for (const std::size_t k : {std::size_t{0}, ranges.count - 1}) {
      const Metres r = ranges.at(k);
      const Point at = fan.shown({along.origin.x + r * along.direction.x, along.origin.y + r * along.direction.y,
                                  along.origin.z + r * along.direction.z});
      x.hold(at.x);
      y.hold(at.y);
      z.hold(at.z);
    }
  }
  Grid grid;
  grid.x = x.axis(display.x);
  grid.z = z.axis(display.z);
  if (fan.volume()) grid.y = y.axis({});
  const double wide = (grid.x.last - grid.x.first).value;
  const double high = (grid.z.last - grid.z.first).value;
  const double deep = (grid.y.last - grid.y.first).value;
  double pixel = std::max({wide, high, deep}) / static_cast<double>((fan.volume() ? usual_rows_of_volumes : usual_rows) - 1);
  const auto count = [&](double extent) {
    // The check of the grid refuses ends in the wrong order.
    const double steps = pixel > 0.0 ? std::clamp(extent / pixel, 1.0, most_pixels) : 1.0;
    return static_cast<std::size_t>(std::lround(steps)) + 1;
  };
  if (display.pixels) {
    grid.x.count = (*display.pixels)[0];
    grid.z.count = (*display.pixels)[1];
    // Pixels have the width that follows from the stated number.
    if (grid.x.count > 1) pixel = wide / static_cast<double>(grid.x.count - 1);
  } else {
    grid.x.count = count(wide);
    grid.z.count = count(high);
  }
  if (fan.volume()) grid.y.count = count(deep);
  return grid;
}

void add_line_image(Recipe& recipe, const BeamsPlan& plan, const OutputDescription& image, std::size_t block, bool display) {
  add_shown_image(
      recipe, image, block, plan.compression, display ? ShownLevels::all : ShownLevels::none, [&](std::size_t compressed) {
        const ScanInterpolation interpolation = interpolation_of(plan.display.interpolation, image);
        const std::size_t shown =
            plan.fan.volume() ? recipe.add(polar_volume_conversion_stage, volume_options(plan, interpolation), {compressed})
                              : recipe.add(polar_scan_conversion_stage, polar_options(plan, interpolation), {compressed});
        RecipeOutput output{display_of(image, plan.display_grid), shown};
        if (plan.fan.across()) output.description.x = {"y", "m"};
        // There are no values outside of the sector.
        output.description.scale.masked = shows_numbers(image.scale.kind);
        return output;
      });
}

}  // namespace echoform
