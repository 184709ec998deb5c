#include "apps/display_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

void show_levels(ImageFile& file, std::span<const std::byte> levels, std::vector<float>& envelope) {
  std::array<float, 256> of_level{};
  for (std::size_t k = 0; k < of_level.size(); ++k) {
    const double decibels = (static_cast<double>(k) / 255.0 - 1.0) * file.dynamic_range_db;
    of_level[k] = static_cast<float>(std::pow(10.0, decibels / 20.0));
  }
  envelope.resize(file.grid.pixels());
  std::transform(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(std::min(levels.size(), envelope.size())),
                 envelope.begin(), [&](std::byte level) { return of_level[std::to_integer<std::size_t>(level)]; });
  file.envelope = envelope;
  file.analytic = {};
  file.reference = 1.0;
  file.gain_db = 0.0;
}

}  // namespace echoform
