// Places on a rectangular detector between which the mean of sound over it is found.
#pragma once

#include <cstddef>
#include <vector>

#include "acquisition/detectors.hpp"

namespace echoform {

struct ElementPoint {
  double distance = 0.0;  ///< from the source, in metres
  double weight = 1.0;    ///< of all of them together 1
};

inline constexpr std::size_t most_points_a_side = 64;

/// Gauss-Legendre quadrature along width and length: as many places as it takes to tell apart ways that differ by a part of
/// `feature`, the length in metres over which the sound of a source changes, at most most_points_a_side along each; one at the
/// centre along a side of size 0.
void element_points(const Detector& detector, const Point& source, double feature, std::vector<ElementPoint>& points);

}  // namespace echoform
