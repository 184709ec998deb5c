// Windows over arrays in one and in two directions.
#include "stages/beamform/apodization.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace echoform {
namespace {

constexpr std::size_t elements_of_line = 12;

std::vector<double> hann_window(const Probe& probe) {
  Aperture aperture;
  aperture.probe = probe;
  aperture.apodization.window = ApodizationWindow::hann;
  return beamform::source_window(aperture, BeamformSide::receive, probe.elements.size());
}

double hann(double t) {
  return std::pow(std::sin(std::numbers::pi * t), 2);
}

/// A linear array turned about z.
Probe turned_line(double degrees) {
  Probe probe = make_linear_probe(elements_of_line, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : probe.elements) {
    const Metres along = element.centre.x;
    element.centre.x = along * std::cos(degrees * std::numbers::pi / 180.0);
    element.centre.y = along * std::sin(degrees * std::numbers::pi / 180.0);
  }
  return probe;
}

TEST(ApodizationWindows, OfALineAreTheSameWhicheverWayItRuns) {
  for (const double degrees : {0.0, 0.2, 30.0, 45.0, 89.9, 90.0, 135.0}) {
    const std::vector<double> window = hann_window(turned_line(degrees));
    for (std::size_t k = 0; k < elements_of_line; ++k) {
      // Nothing but rounding: the same formula.
      EXPECT_NEAR(window[k], hann((static_cast<double>(k) + 0.5) / elements_of_line), 1e-12) << degrees << " degrees";
    }
  }
}

TEST(ApodizationWindows, OfALineFollowItsPlacesWhereElementsAreListedOtherwise) {
  Probe probe = turned_line(30.0);
  std::vector<std::size_t> listed{5, 0, 11, 3, 8, 1, 10, 2, 7, 4, 9, 6};
  const std::vector<Element> in_order = probe.elements;
  for (std::size_t k = 0; k < elements_of_line; ++k) probe.elements[k] = in_order[listed[k]];
  const std::vector<double> window = hann_window(probe);
  for (std::size_t k = 0; k < elements_of_line; ++k) {
    EXPECT_NEAR(window[k], hann((static_cast<double>(listed[k]) + 0.5) / elements_of_line), 1e-12) << k;
  }
}

TEST(ApodizationWindows, OfTwoRowsAreOfBothDirections) {
  Probe probe = make_matrix_probe({.columns = 12,
                                   .rows = 2,
                                   .pitch = Metres(0.6e-3),
                                   .row_pitch = Metres(0.1e-3),
                                   .width = Metres(0.5e-3),
                                   .length = Metres(0.1e-3)},
                                  Hertz(5e6), Hertz(3e6));
  const std::vector<double> window = hann_window(probe);
  for (std::size_t k = 0; k < probe.elements.size(); ++k) {
    EXPECT_NEAR(window[k], hann((static_cast<double>(k % 12) + 0.5) / 12.0) * hann(0.25), 1e-12);
  }
}

}  // namespace
}  // namespace echoform
