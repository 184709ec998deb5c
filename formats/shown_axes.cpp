#include "formats/shown_axes.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/anatomical_axes.hpp"

namespace echoform::formats {

namespace {

/// A unit with a prefix that replaces another unit.
struct PrefixedUnit {
  std::string_view of;
  double from;    ///< the minimum value, in the other unit, for which it is used
  double factor;  ///< factor from the other unit to this one
  std::string_view name;
};
// For each unit, later entries are for larger values.
constexpr std::array prefixed_units{PrefixedUnit{"m/s", 0.0, 1e3, "mm/s"}, PrefixedUnit{"m/s", 0.1, 1.0, "m/s"},
                                    PrefixedUnit{"Pa", 1e3, 1e-3, "kPa"}, PrefixedUnit{"Pa", 1e6, 1e-6, "MPa"}};

/// The number in superscript: "\u207b\u2075" for -5.
std::string superscript(int number) {
  constexpr std::array digits{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text;
  for (const char c : fmt::format("{}", number)) text += c == '-' ? "\u207b" : digits[static_cast<std::size_t>(c - '0')];
  return text;
}

/// The unit in its usual form: m^2/s^2 with superscript numbers.
std::string with_raised_numbers(std::string_view unit) {
  std::string text;
  for (std::size_t k = 0; k < unit.size(); ++k) {
    const bool raised = unit[k] == '^' && k + 1 < unit.size() && unit[k + 1] >= '0' && unit[k + 1] <= '9';
    text += raised ? superscript(unit[++k] - '0') : std::string(1, unit[k]);
  }
  return text;
}

}  // namespace

ShownUnit shown_unit(const Meaning& meaning) {
  if (meaning.unit == "m") return {"mm", 1e3, 1e-3};
  return {meaning.unit};
}

std::string label_of(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

std::string label_of(const Meaning& meaning) {
  return label_of(meaning.name, shown_unit(meaning).name);
}

ShownUnit shown_values(const Meaning& meaning, double end) {
  ShownUnit unit{with_raised_numbers(meaning.unit)};
  for (const PrefixedUnit& prefixed : prefixed_units) {
    if (prefixed.of == meaning.unit && end >= prefixed.from) {
      unit = {std::string(prefixed.name), prefixed.factor, 1.0 / prefixed.factor};
    }
  }
  if (unit.name.empty() && end != 1.0) unit.name = "arbitrary units";
  const double shown = end * unit.to_shown;
  if (!(shown > 0.0) || (shown >= 1e-2 && shown < 1e4)) return unit;
  const int exponent = static_cast<int>(std::floor(std::log10(shown)));
  const double power = std::pow(10.0, exponent);
  return {fmt::format("10{} {}", superscript(exponent), unit.name), unit.to_shown / power, unit.from_shown * power};
}

std::array<ShownAxis, 3> shown_axes(const ImageFile& image) {
  const auto shown = [&](const Axis& axis, const Meaning& meaning) {
    const ShownUnit unit = shown_unit(meaning);
    return ShownAxis{meaning.name, unit.name, axis.first.value * unit.to_shown,
                     pixel_extent(axis, image.grid).value * unit.to_shown, axis.count};
  };
  return {shown(image.grid.x, image.x), shown(image.grid.y, image.y), shown(image.grid.z, image.z)};
}

std::string axes_text(const std::array<ShownAxis, 3>& axes) {
  const auto& [x, y, z] = axes;
  return fmt::format("{}, {}, {}", label_of(x.name, x.unit), label_of(y.name, y.unit), label_of(z.name, z.unit));
}

}  // namespace echoform::formats
