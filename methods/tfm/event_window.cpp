#include "methods/tfm/event_window.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "acquisition/longest_extent.hpp"
#include "acquisition/scan_lines.hpp"
#include "stages/beamform/apodization.hpp"

namespace echoform {
namespace {

/// Directions that differ by less, in radians, count as one. So do depths of points that differ by less as a share of the
/// greatest.
constexpr double same_direction = 1e-6;
constexpr double same_depth = 1e-6;
/// Waves count as evenly spaced if they are off by less than this share of a step, because files round.
constexpr double even_step = 1e-3;

/// The places of the events, in two coordinates.
struct EventPlaces {
  std::vector<double> x;
  std::vector<double> y;

  void add(double along_x, double along_y) {
    x.push_back(along_x);
    y.push_back(along_y);
  }
};

/// Places of virtual sources or foci that lie at one depth.
std::optional<EventPlaces> places_at_one_depth(const Acquisition& acquisition, std::span<const std::uint32_t> events) {
  EventPlaces places;
  std::optional<double> depth;
  for (const std::uint32_t event : events) {
    const auto* const wave = std::get_if<PointWaveEvent>(&acquisition.events[event].form);
    if (wave == nullptr) return std::nullopt;
    const double z = wave->point.z.value;
    if (std::abs(z - depth.value_or(z)) > same_depth * std::abs(z)) return std::nullopt;
    depth = z;
    places.add(wave->point.x.value, wave->point.y.value);
  }
  return places;
}

/// Angles of the events' lines, or the lines' origins where they are parallel.
std::optional<EventPlaces> places_of_lines(const Acquisition& acquisition, std::span<const std::uint32_t> events,
                                           MetresPerSecond velocity) {
  EventPlaces angles;
  EventPlaces origins;
  for (const std::uint32_t event : events) {
    const std::optional<ScanLine> line = line_of_event(acquisition, event, velocity);
    if (!line) return std::nullopt;
    const Direction& n = line->direction;
    angles.add(std::atan2(n.x, n.z), std::asin(std::clamp(n.y, -1.0, 1.0)));
    origins.add(line->origin.x.value, line->origin.y.value);
  }
  const auto alike = [](const std::vector<double>& values) {
    const auto [min, max] = std::ranges::minmax(values);
    return max - min < same_direction;
  };
  return alike(angles.x) && alike(angles.y) ? origins : angles;
}

std::optional<EventPlaces> places_of(const Acquisition& acquisition, std::span<const std::uint32_t> events,
                                     std::span<const MetresPerSecond> media) {
  if (auto places = places_at_one_depth(acquisition, events)) return places;
  for (const MetresPerSecond velocity : media) {
    if (auto places = places_of_lines(acquisition, events, velocity)) return places;
  }
  return std::nullopt;
}

}  // namespace

std::vector<float> window_over_events(const Acquisition& acquisition, std::span<const std::uint32_t> events,
                                      std::span<const MetresPerSecond> media, ApodizationWindow window, double tukey_fraction) {
  const auto weights_along = [&](std::vector<double> places) {
    const beamform::Ranks ranks = beamform::ranks_of(std::move(places));
    const bool even =
        std::ranges::all_of(ranks.of_place, [](double rank) { return std::abs(rank - std::round(rank)) < even_step; });
    std::vector<double> weights;
    for (const double rank : ranks.of_place)
      weights.push_back(beamform::window_at(window, tukey_fraction, ranks.way(even ? std::round(rank) : rank)));
    return weights;
  };
  std::vector<double> weights;
  if (const auto places = places_of(acquisition, events, media)) {
    const LongestExtent extent = longest_extent(places->x, places->y);
    if (extent.alone) {
      std::vector<double> along;
      for (std::size_t k = 0; k < events.size(); ++k) along.push_back(extent.cosine * places->x[k] + extent.sine * places->y[k]);
      weights = weights_along(std::move(along));
    } else {
      weights = weights_along(places->x);
      const std::vector<double> across = weights_along(places->y);
      std::ranges::transform(weights, across, weights.begin(), std::multiplies{});
    }
  } else {
    weights = beamform::aperture_window(window, tukey_fraction, events.size());
  }
  return {weights.begin(), weights.end()};
}

}  // namespace echoform
