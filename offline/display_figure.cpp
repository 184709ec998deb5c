#include "offline/display_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace echoform {

bool is_plane_of_part(const Meaning& x, const Meaning& z) {
  return x == Meaning{"x", "m"} && z == Meaning{"z", "m"};
}

std::optional<std::size_t> display_for_figures(const Recipe& recipe, std::string_view view) {
  const auto envelope = recipe.find(view, OutputKind::envelope);
  const auto display = recipe.find(view, OutputKind::display);
  if (!envelope || !display) return std::nullopt;
  const OutputDescription& polar = recipe.outputs[*envelope].description;
  const OutputDescription& shown = recipe.outputs[*display].description;
  if (polar.x == shown.x && polar.z == shown.z) return std::nullopt;
  return display;
}

void describe_pixels(ImageFile& file, const OutputDescription& image, const DisplayScale& scale, double reference) {
  file.pixels = image.pixels;
  file.scale = image.scale;
  file.limit = image.limit;
  file.dynamic_range_db = scale.dynamic_range_db;
  file.gain_db = scale.gain_db;
  const double fixed = scale.fixed_reference.value_or(0.0);
  if (shows_numbers(image.scale.kind)) {
    if (image.scale.end > 0.0) return;
    file.scale.end = reference > 0.0 ? reference : fixed * std::pow(10.0, -scale.gain_db / 20.0);
  } else if (reference > 0.0) {
    file.reference = reference;
  } else if (fixed > 0.0) {
    // Fixed references are amplitudes.
    file.reference = image.scale.kind == ScaleKind::power_decibels ? fixed * fixed : fixed;
  }
}

void show_levels(ImageFile& file, std::span<const std::byte> levels, std::vector<float>& envelope) {
  const bool numbers = shows_numbers(file.scale.kind);
  if (numbers && !(file.scale.end > 0.0)) file.scale.end = 1.0;  // of frames without signal, whose levels are all 0
  std::array<float, 256> of_level{};
  for (std::size_t k = 0; k < of_level.size(); ++k) {
    const double decibels = (static_cast<double>(k) / 255.0 - 1.0) * file.dynamic_range_db;
    const bool none = file.scale.masked && k == 0;
    const double value = none      ? std::numeric_limits<double>::quiet_NaN()
                         : numbers ? number_of_level(file.scale.kind, file.scale.end, static_cast<std::uint8_t>(k))
                                   : std::pow(10.0, decibels / decibels_a_decade(file.scale.kind));
    of_level[k] = static_cast<float>(value);
  }
  envelope.resize(file.grid.pixels());
  std::transform(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(std::min(levels.size(), envelope.size())),
                 envelope.begin(), [&](std::byte level) { return of_level[std::to_integer<std::size_t>(level)]; });
  file.envelope = envelope;
  file.analytic = {};
  file.gain_db = 0.0;
  if (!numbers) file.reference = 1.0;
}

}  // namespace echoform
