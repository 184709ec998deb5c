#include "methods/adaptive_keys.hpp"

#include <fmt/format.h>

namespace echoform {
namespace {

bool has(const AdaptiveKind& kind, WeightedPoints points) {
  return points == WeightedPoints::lines || kind.result != AdaptiveResult::doubled;
}

std::string help_of(WeightedPoints points) {
  std::string text = points == WeightedPoints::lines
                         ? "What the sum of the channels is weighted by, or replaced by."
                         : "What the sum of the receivers' images is weighted by, or replaced by, pixel by pixel.";
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (has(kind, points)) text += fmt::format(" {}: {}.", kind.name, kind.meaning);
  }
  return text;
}

}  // namespace

std::vector<std::string> adaptive_names(WeightedPoints points) {
  std::vector<std::string> names;
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (has(kind, points)) names.emplace_back(kind.name);
  }
  return names;
}

std::string adaptive_with_window(std::string_view section) {
  std::string kinds;
  for (const AdaptiveKind& kind : adaptive_kinds()) {
    if (kind.uses_window) kinds += fmt::format("{}{}.adaptive={}", kinds.empty() ? "" : " or ", section, kind.name);
  }
  return kinds;
}

std::string_view adaptive_help(WeightedPoints points) {
  static const std::string of_lines = help_of(WeightedPoints::lines);
  static const std::string of_pixels = help_of(WeightedPoints::pixels);
  return points == WeightedPoints::lines ? of_lines : of_pixels;
}

std::string_view adaptive_window_help(WeightedPoints points) {
  return points == WeightedPoints::lines
             ? "Length along the line over which adaptive weights take energies, correlations and covariances, in periods of the "
               "centre frequency; 0 is the point alone."
             : "Length along z over which adaptive weights take energies, correlations and covariances, in periods of the centre "
               "frequency; 0 is the pixel alone.";
}

}  // namespace echoform
