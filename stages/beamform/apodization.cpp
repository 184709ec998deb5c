#include "stages/beamform/apodization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace echoform::beamform {
namespace {

/// Along the straight lines from the element to the pixels.
void straight_cosines(const Element& source, std::span<const Point> pixels, std::span<double> cosines) {
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    const double dx = (pixels[k].x - source.centre.x).value;
    const double dy = (pixels[k].y - source.centre.y).value;
    const double dz = (pixels[k].z - source.centre.z).value;
    const double distance = std::sqrt(dx * dx + dy * dy + dz * dz);
    // A pixel on the element itself is taken as straight ahead.
    cosines[k] = distance > 0.0 ? (dx * source.normal.x + dy * source.normal.y + dz * source.normal.z) / distance : 1.0;
  }
}

}  // namespace

std::vector<double> aperture_window(ApodizationWindow window, double tukey_fraction, std::size_t elements) {
  std::vector<double> weights(elements, 1.0);
  const double taper = window == ApodizationWindow::hann ? 1.0 : tukey_fraction;
  if (window == ApodizationWindow::none || taper <= 0.0) return weights;
  for (std::size_t i = 0; i < elements; ++i) {
    const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(elements);
    const double from_end = std::min(t, 1.0 - t);
    if (from_end < 0.5 * taper) {
      const double s = std::sin(std::numbers::pi * from_end / taper);
      weights[i] = s * s;
    }
  }
  return weights;
}

bool has_weights(const Apodization& apodization, Side side) {
  if (apodization.trivial()) return false;
  return apodization.sides == ApodizationSides::both ||
         (apodization.sides == ApodizationSides::transmit) == (side == Side::transmit);
}

bool has_weights(const Apodization& apodization) {
  return has_weights(apodization, Side::transmit) || has_weights(apodization, Side::receive);
}

std::vector<double> source_window(const Aperture& aperture, Side side, std::size_t sources) {
  const Apodization& apodization = aperture.apodization;
  if (!has_weights(apodization, side)) return {};
  const std::vector<double> of_elements =
      aperture_window(apodization.window, apodization.tukey_fraction, aperture.probe.elements.size());
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
  if (!apodization.angular()) {
    std::fill(weights.begin(), weights.end(), static_cast<float>(window_weight));
    return;
  }
  const Element& element = aperture.probe.elements[aperture.element_of(side, source)];
  const Departures* const departures = leg.departures();
  const double least_cosine = std::cos(apodization.angle_limit * std::numbers::pi / 180.0);
  const double waves_across = apodization.directivity ? element.width.value * aperture.probe.centre_frequency.value /
                                                            directivity_velocity(aperture, leg, source).value
                                                      : 0.0;
  std::array<double, 64> cosines;
  for (std::size_t from = 0; from < pixels.size(); from += cosines.size()) {
    const std::size_t count = std::min(cosines.size(), pixels.size() - from);
    if (departures != nullptr) {
      departures->cosines(source, pixels.subspan(from, count), std::span(cosines).first(count));
    } else {
      straight_cosines(element, pixels.subspan(from, count), cosines);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double cosine = cosines[k];
      double weight = window_weight;
      if (!(cosine >= least_cosine && cosine > 0.0)) {
        weight = 0.0;
      } else if (apodization.directivity) {
        const double sine = std::sqrt(std::max(0.0, 1.0 - cosine * cosine));
        const double argument = std::numbers::pi * waves_across * sine;
        weight *= cosine * (argument > 1e-9 ? std::abs(std::sin(argument) / argument) : 1.0);
      }
      weights[from + k] = static_cast<float>(weight);
    }
  }
}

}  // namespace echoform::beamform
