#include "operators/spherical_setup.hpp"

#include <algorithm>
#include <array>

#include "base/directions.hpp"
#include "operators/spreading_kernel.hpp"

namespace echoform {

SphericalPlaces spherical_places(const ModelGeometry& geometry, const SphericalTimeGrid& time, bool rectangles) {
  SphericalPlaces places;
  const double way = geometry.velocity.value / time.fine_rate;
  const auto scaled_point = [&](const Point& p) {
    return std::array<double, 3>{p.x.value / way, p.y.value / way, p.z.value / way};
  };
  const Grid& grid = geometry.grid;
  const std::array<double, 3> first = scaled_point({grid.x.first, grid.y.first, grid.z.first});
  std::copy(first.begin(), first.end(), places.lattice.first);
  places.lattice.spacing = voxel_spacing(grid).value / way;
  places.shift = geometry.start_time.value * time.fine_rate - static_cast<double>(time.before * time.finer);
  for (const Detector& detector : geometry.detectors) {
    spherical::Listener listener{};
    const std::array<double, 3> place = scaled_point(detector.centre);
    std::copy(place.begin(), place.end(), listener.place);
    // The sizes of dead detectors stay 0: the grid in time has no space for larger ones.
    if (rectangles && !detector.dead) {
      const Direction across = scaled(detector.across, detector.width.value / way);
      const Direction along = scaled(cross(detector.normal, detector.across), detector.length.value / way);
      const std::array<double, 3> across_of{across.x, across.y, across.z};
      const std::array<double, 3> along_of{along.x, along.y, along.z};
      std::copy(across_of.begin(), across_of.end(), listener.across);
      std::copy(along_of.begin(), along_of.end(), listener.along);
    }
    places.listeners.push_back(listener);
  }
  return places;
}

CountedCells counted_cells(const SphericalTimeGrid& time) {
  const auto transit = static_cast<std::int32_t>(time.transit);
  const auto length = static_cast<std::int32_t>(time.period * time.finer);
  return {transit + spreading::lead, length - transit - spreading::lanes + spreading::lead};
}

}  // namespace echoform
