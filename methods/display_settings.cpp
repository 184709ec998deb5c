#include "methods/display_settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"

namespace echoform {

void require_range(std::string_view where, std::string_view key, double value, const Interval& range) {
  if (!range.holds(value)) {
    throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value),
                     fmt::format("{} to {}", range.least, range.most));
  }
}

void validate(const Compression& compression, std::string_view where) {
  require_range(where, "dynamic_range_db", compression.dynamic_range_db, Compression::dynamic_ranges);
  require_range(where, "gain_db", compression.gain_db, Compression::gains);
  require_range(where, "running_fraction", compression.running_fraction, Compression::running_fractions);
  if (!(compression.reference_value > 0.0) || !std::isfinite(compression.reference_value)) {
    throw InputError(fmt::format("{} reference_value", where), fmt::format("{}", compression.reference_value),
                     "a positive number");
  }
}

std::optional<Grid> shown_grid(const DisplaySection& display, const Grid& grid, std::string_view where) {
  if (!display.x && !display.z && !display.pixels) return std::nullopt;
  if (grid.y.count > 1) {
    throw InputError(std::string(where), "a grid of its own for a volume",
                     "no x, z and pixels there: volumes are shown on [grid]");
  }
  Grid shown = grid;
  if (display.x) shown.x = {(*display.x)[0], (*display.x)[1], grid.x.count};
  if (display.z) shown.z = {(*display.z)[0], (*display.z)[1], grid.z.count};
  if (display.pixels) {
    shown.x.count = (*display.pixels)[0];
    shown.z.count = (*display.pixels)[1];
  }
  validate(shown, where);
  if (shown == grid) return std::nullopt;
  return shown;
}

void warn_of_interpolation(const DisplaySection& display, const std::optional<Grid>& shown, std::string_view where,
                           std::vector<std::string>& warnings) {
  if (shown || display.interpolation == DisplaySection().interpolation) return;
  warnings.push_back(fmt::format(
      "{} interpolation has no effect: images are shown on [grid], where [display] states no grid of its own", where));
}

DisplayScale scale_of(const Compression& compression) {
  DisplayScale scale{compression.dynamic_range_db, compression.gain_db, std::nullopt};
  if (compression.reference == ReferenceMode::fixed) scale.fixed_reference = compression.reference_value;
  return scale;
}

}  // namespace echoform
