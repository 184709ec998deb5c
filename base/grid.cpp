#include "base/grid.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::size_t pixel_limit = std::size_t{1} << 28;

void validate_axis(const Axis& axis, std::string_view where, std::string_view name) {
  const std::string place = fmt::format("{} {}", where, name);
  if (axis.count == 0) throw InputError(place, "0 pixels", "at least 1");
  if (!std::isfinite(axis.first.value) || !std::isfinite(axis.last.value)) {
    throw InputError(place, fmt::format("[{}, {}] m", axis.first.value, axis.last.value), "finite ends");
  }
  if (axis.count == 1 && axis.first != axis.last) {
    throw InputError(place, fmt::format("one pixel over [{}, {}] m", axis.first.value, axis.last.value),
                     "equal ends for one pixel");
  }
  if (axis.count > 1 && !(axis.first < axis.last)) {
    throw InputError(place, fmt::format("[{}, {}] m", axis.first.value, axis.last.value), "first < last");
  }
}

}  // namespace

Metres Axis::at(std::size_t index) const {
  // The last pixel is the end itself, without rounding, as in numpy.linspace.
  if (count > 1 && index + 1 == count) return last;
  return Metres(first.value + static_cast<double>(index) * spacing().value);
}

Metres Axis::spacing() const {
  return count < 2 ? Metres(0.0) : (last - first) / static_cast<double>(count - 1);
}

Point Grid::at(std::size_t index) const {
  const std::size_t ix = index % x.count;
  const std::size_t iy = index / x.count % y.count;
  const std::size_t iz = index / x.count / y.count;
  return {x.at(ix), y.at(iy), z.at(iz)};
}

std::vector<Point> Grid::points() const {
  std::vector<Point> all;
  all.reserve(pixels());
  for (std::size_t iz = 0; iz < z.count; ++iz) {
    for (std::size_t iy = 0; iy < y.count; ++iy) {
      for (std::size_t ix = 0; ix < x.count; ++ix) all.push_back({x.at(ix), y.at(iy), z.at(iz)});
    }
  }
  return all;
}

void validate(const Grid& grid, std::string_view where) {
  validate_axis(grid.x, where, "x");
  validate_axis(grid.z, where, "z");
  validate_axis(grid.y, where, "y");
  if (grid.x.count > pixel_limit / grid.z.count || grid.x.count * grid.z.count > pixel_limit / grid.y.count) {
    throw InputError(
        fmt::format("{} pixels", where),
        fmt::format(
            "{} x {} x {} pixels, {:.1f} GB for the complex image alone", grid.x.count, grid.y.count, grid.z.count,
            8e-9 * static_cast<double>(grid.x.count) * static_cast<double>(grid.y.count) * static_cast<double>(grid.z.count)),
        fmt::format("at most {} pixels", pixel_limit));
  }
}

}  // namespace echoform
