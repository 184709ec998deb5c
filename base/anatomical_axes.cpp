#include "base/anatomical_axes.hpp"

namespace echoform {

Metres pixel_extent(const Axis& axis, const Grid& grid) {
  if (axis.count > 1) return axis.spacing();
  Metres smallest(0.0);
  for (const Axis* other : {&grid.x, &grid.y, &grid.z}) {
    if (other->count > 1 && (smallest.value == 0.0 || other->spacing() < smallest)) smallest = other->spacing();
  }
  return smallest.value > 0.0 ? smallest : Metres(1e-3);
}

std::optional<PixelPlaces> pixel_places(const Grid& grid, const Meaning& x, const Meaning& y, const Meaning& z) {
  const bool along = x == Meaning{"x", "m"} && (grid.y.count == 1 || y == Meaning{"y", "m"});
  const bool across = x == Meaning{"y", "m"} && grid.y.count == 1;
  if (z != Meaning{"z", "m"} || !(along || across)) return std::nullopt;
  const double dx = pixel_extent(grid.x, grid).value;
  const double dy = pixel_extent(grid.y, grid).value;
  const double dz = pixel_extent(grid.z, grid).value;
  if (across)
    return PixelPlaces{{0.0, grid.x.first.value, grid.z.first.value}, {{{0.0, dx, 0.0}, {-dy, 0.0, 0.0}, {0.0, 0.0, dz}}}};
  return PixelPlaces{{grid.x.first.value, grid.y.first.value, grid.z.first.value},
                     {{{dx, 0.0, 0.0}, {0.0, dy, 0.0}, {0.0, 0.0, dz}}}};
}

RasMatrix ras_of_pixels(const PixelPlaces& places) {
  constexpr double millimetres = 1e3;  // millimetres in a metre
  RasMatrix matrix{};
  const auto put = [&](std::size_t column, const std::array<double, 3>& metres) {
    const AnatomicalVector vector = ras(millimetres * metres[0], millimetres * metres[1], millimetres * metres[2]);
    for (std::size_t row = 0; row < 3; ++row) matrix[row][column] = vector[row];
  };
  for (std::size_t axis = 0; axis < 3; ++axis) put(axis, places.steps[axis]);
  put(3, places.first);
  matrix[3][3] = 1.0;
  return matrix;
}

}  // namespace echoform
