#include "stages/beamform/apodization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

#include "acquisition/firing_shape.hpp"
#include "acquisition/longest_extent.hpp"
#include "base/directions.hpp"

namespace echoform::beamform {
namespace {

/// The relative distance of each place from one edge towards the other, 0 .. 1.
std::vector<double> ways_across(std::vector<double> places) {
  Ranks ranks = ranks_of(std::move(places));
  for (double& rank : ranks.of_place) rank = ranks.way(rank);
  return ranks.of_place;
}

std::vector<double> places_along(Metres Point::*axis, const Probe& probe) {
  std::vector<double> places;
  places.reserve(probe.elements.size());
  for (const Element& element : probe.elements) places.push_back((element.centre.*axis).value);
  return places;
}

/// The place of each element in a straight row, if the elements stand in one. The list is empty for elements that are listed in
/// their order in the row, in either direction, and for all other arrangements.
std::vector<std::size_t> places_in_row(const Probe& probe) {
  std::vector<Firing> all;
  for (std::uint32_t k = 0; k < probe.elements.size(); ++k) all.push_back({k, 0.0, 1.0});
  const FiringPlaces places = places_of_firings(probe, frame_of(probe), all);
  if (places.shape != FiringShape::row) return {};
  std::vector<double> along;
  for (const Element& element : probe.elements) along.push_back(places.frame.to_probe(element.centre).x.value);
  if (std::ranges::is_sorted(along) || std::ranges::is_sorted(along, std::greater{})) return {};
  std::vector<std::size_t> order(along.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return along[k]; });
  std::vector<std::size_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  return place;
}

/// The weight of each element. In a line the weights follow the order of the elements, whichever direction it has. In a
/// two-dimensional array a weight is the window along x times the window along y.
std::vector<double> window_of_elements(const Apodization& apodization, const Probe& probe) {
  const std::vector<double> x = places_along(&Point::x, probe);
  const std::vector<double> y = places_along(&Point::y, probe);
  if (longest_extent(x, y).alone) {
    const std::vector<double> in_order = aperture_window(apodization.window, apodization.tukey_fraction, probe.elements.size());
    const std::vector<std::size_t> place = places_in_row(probe);
    if (place.empty()) return in_order;
    std::vector<double> weights;
    for (const std::size_t k : place) weights.push_back(in_order[k]);
    return weights;
  }
  const std::vector<double> along = ways_across(x);
  const std::vector<double> across = ways_across(y);
  std::vector<double> weights(probe.elements.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = window_at(apodization.window, apodization.tukey_fraction, along[k]) *
                 window_at(apodization.window, apodization.tukey_fraction, across[k]);
  }
  return weights;
}

/// Magnitude of sin(x) / x.
double sinc_of(double argument) {
  return argument > 1e-9 ? std::abs(std::sin(argument) / argument) : 1.0;
}

/// The straight line from an element to a pixel.
struct StraightWay {
  Direction way;        ///< m
  double metres = 0.0;  ///< its length
  double cosine = 1.0;  ///< cosine of the angle to the element's normal
};

StraightWay straight_way(const Element& source, const Point& pixel) {
  StraightWay straight{.way = between(source.centre, pixel)};
  straight.metres = length(straight.way);
  // A pixel on the element itself is taken as straight ahead.
  if (straight.metres > 0.0) straight.cosine = dot(straight.way, source.normal) / straight.metres;
  return straight;
}

/// Sines of the angles between a direction and the normal: along the element's width, which lies in a plane of x and z, and along
/// its length.
struct SidewaysSines {
  double along_width = 0.0;
  double along_length = 0.0;
};

SidewaysSines sines_of(const Element& element, const StraightWay& straight) {
  const double all = std::sqrt(std::max(0.0, 1.0 - straight.cosine * straight.cosine));
  const Direction& n = element.normal;
  // Linear arrays have the element and the pixel in one plane. There the full angle is along the width.
  if ((straight.way.y == 0.0 && n.y == 0.0) || !(straight.metres > 0.0)) return {all, 0.0};
  const double flat = std::hypot(n.x, n.z);
  if (!(flat > 0.0)) return {all, 0.0};
  const double along = std::abs(straight.way.x * n.z - straight.way.z * n.x) / (flat * straight.metres);
  return {along, std::sqrt(std::max(0.0, all * all - along * along))};
}

bool weighs_events(const Aperture& aperture, Side side) {
  return side == Side::transmit && !aperture.event_weights.empty();
}

}  // namespace

double window_at(ApodizationWindow window, double tukey_fraction, double t) {
  const double taper = window == ApodizationWindow::hann ? 1.0 : tukey_fraction;
  const double from_end = std::min(t, 1.0 - t);
  if (window == ApodizationWindow::none || taper <= 0.0 || from_end >= 0.5 * taper) return 1.0;
  const double s = std::sin(std::numbers::pi * from_end / taper);
  return s * s;
}

Ranks ranks_of(std::vector<double> places) {
  std::vector<double> sorted = places;
  std::ranges::sort(sorted);
  const double first = sorted.front();
  const double span = sorted.back() - first;
  Ranks ranks{std::move(places), 1.0};
  if (!(span > 0.0)) {
    std::ranges::fill(ranks.of_place, 0.0);
    return ranks;
  }
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    if (sorted[k] - sorted[k - 1] > same_place * span) ranks.distinct += 1.0;
  }
  for (double& place : ranks.of_place) place = (ranks.distinct - 1.0) * (place - first) / span;
  return ranks;
}

std::vector<double> aperture_window(ApodizationWindow window, double tukey_fraction, std::size_t elements) {
  std::vector<double> weights(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    weights[i] = window_at(window, tukey_fraction, (static_cast<double>(i) + 0.5) / static_cast<double>(elements));
  }
  return weights;
}

bool has_weights(const Aperture& aperture, Side side) {
  if (weighs_events(aperture, side)) {
    return std::ranges::any_of(aperture.event_weights, [](float weight) { return weight != 1.0F; });
  }
  const Apodization& apodization = aperture.apodization;
  if (apodization.trivial()) return false;
  return apodization.sides == ApodizationSides::both ||
         (apodization.sides == ApodizationSides::transmit) == (side == Side::transmit);
}

bool has_weights(const Aperture& aperture) {
  return has_weights(aperture, Side::transmit) || has_weights(aperture, Side::receive);
}

std::vector<double> source_window(const Aperture& aperture, Side side, std::size_t sources) {
  const Apodization& apodization = aperture.apodization;
  if (!has_weights(aperture, side)) return {};
  if (weighs_events(aperture, side)) return {aperture.event_weights.begin(), aperture.event_weights.end()};
  const std::vector<double> of_elements = window_of_elements(apodization, aperture.probe);
  std::vector<double> window(sources);
  for (std::size_t source = 0; source < sources; ++source) window[source] = of_elements[aperture.element_of(side, source)];
  return window;
}

MetresPerSecond directivity_velocity(const Aperture& aperture, const Leg& leg, std::size_t source) {
  if (const auto form = leg.point_source(source)) return form->velocity;
  const Departures* const departures = leg.departures();
  return departures != nullptr ? departures->velocity() : aperture.longitudinal_velocity;
}

void element_weights(const Aperture& aperture, Side side, const Leg& leg, std::size_t source, double window_weight,
                     std::span<const Point> pixels, std::span<float> weights) {
  const Apodization& apodization = aperture.apodization;
  if (!apodization.angular() || weighs_events(aperture, side)) {
    std::fill(weights.begin(), weights.end(), static_cast<float>(window_weight));
    return;
  }
  const Element& element = aperture.probe.elements[aperture.element_of(side, source)];
  const Departures* const departures = leg.departures();
  const double least_cosine = std::cos(apodization.angle_limit * std::numbers::pi / 180.0);
  const double waves_per_metre =
      apodization.directivity ? aperture.probe.centre_frequency.value / directivity_velocity(aperture, leg, source).value : 0.0;
  const double waves_across = element.width.value * waves_per_metre;
  const double waves_behind = element.length.value * waves_per_metre;
  std::array<double, 64> cosines;
  std::array<SidewaysSines, 64> sines;
  for (std::size_t from = 0; from < pixels.size(); from += cosines.size()) {
    const std::size_t count = std::min(cosines.size(), pixels.size() - from);
    if (departures != nullptr) {
      departures->cosines(source, pixels.subspan(from, count), std::span(cosines).first(count));
      for (std::size_t k = 0; k < count; ++k) sines[k] = {std::sqrt(std::max(0.0, 1.0 - cosines[k] * cosines[k])), 0.0};
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        const StraightWay straight = straight_way(element, pixels[from + k]);
        cosines[k] = straight.cosine;
        sines[k] = sines_of(element, straight);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double cosine = cosines[k];
      double weight = window_weight;
      if (!(cosine >= least_cosine && cosine > 0.0)) {
        weight = 0.0;
      } else if (apodization.directivity) {
        weight *= cosine * sinc_of(std::numbers::pi * waves_across * sines[k].along_width);
        if (sines[k].along_length > 0.0) weight *= sinc_of(std::numbers::pi * waves_behind * sines[k].along_length);
      }
      weights[from + k] = static_cast<float>(weight);
    }
  }
}

}  // namespace echoform::beamform
