// What the spherical model's implementations share: places in ways of sound in one sample of the grid in time.
#pragma once

#include <vector>

#include "operators/model_geometry.hpp"
#include "operators/spherical_math.hpp"
#include "operators/spherical_spectrum.hpp"

namespace echoform {

inline constexpr const char* spherical_model_name = "spherical model";

struct SphericalPlaces {
  spherical::Lattice lattice{};
  double shift = 0.0;  ///< of the grid's sample 0 after the pulse of light, in its samples
  std::vector<spherical::Listener> listeners;
};
/// `rectangles`: with elements' axes, but for dead ones, which are points.
[[nodiscard]] SphericalPlaces spherical_places(const ModelGeometry& geometry, const SphericalTimeGrid& time, bool rectangles);

/// Cells of arrivals that count, so that all samples of their impulses are on the grid.
struct CountedCells {
  std::int32_t first = 0;
  std::int32_t last = 0;
};
[[nodiscard]] CountedCells counted_cells(const SphericalTimeGrid& time);

}  // namespace echoform
