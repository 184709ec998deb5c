#include "rays/point_lattice.hpp"

#include <algorithm>

namespace echoform::rays {
namespace {

std::vector<double> values_of(std::span<const Point> points, Metres Point::*axis) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) {
    if (values.empty() || values.back() != (point.*axis).value) values.push_back((point.*axis).value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::optional<PointLattice> PointLattice::of(std::span<const Point> points) {
  const std::array<std::vector<double>, 3> values{values_of(points, &Point::x), values_of(points, &Point::y),
                                                  values_of(points, &Point::z)};
  PointLattice lattice;
  std::size_t places = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    lattice.counts_[axis] = values[axis].size();
    places *= values[axis].size();
    if (places > 4 * points.size()) return std::nullopt;
  }
  lattice.points_.assign(places, none);
  const auto index = [&](std::size_t axis, Metres value) {
    const auto found = std::lower_bound(values[axis].begin(), values[axis].end(), value.value);
    return static_cast<std::size_t>(found - values[axis].begin());
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::size_t row = index(1, points[k].y) + lattice.counts_[1] * index(2, points[k].z);
    lattice.points_[index(0, points[k].x) + lattice.counts_[0] * row] = static_cast<std::uint32_t>(k);
  }
  return lattice;
}

PointLattice::Place LatticeBrick::corner(unsigned which) const {
  PointLattice::Place place{};
  for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = (which >> axis & 1U) != 0 ? high[axis] : low[axis];
  return place;
}

bool LatticeBrick::smallest() const {
  return high[0] - low[0] <= 1 && high[1] - low[1] <= 1 && high[2] - low[2] <= 1;
}

std::vector<LatticeBrick> LatticeBrick::split() const {
  std::vector<LatticeBrick> parts{*this};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (high[axis] - low[axis] <= 1) continue;
    const std::size_t middle = (low[axis] + high[axis]) / 2;
    const std::size_t count = parts.size();
    for (std::size_t k = 0; k < count; ++k) {
      parts.push_back(parts[k]);
      parts[k].high[axis] = middle;
      parts.back().low[axis] = middle;
    }
  }
  return parts;
}

std::vector<LatticeBrick> bricks_of(const PointLattice::Place& counts, std::size_t side) {
  std::array<std::vector<std::size_t>, 3> cuts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t place = 0; place + 1 < counts[axis]; place += side) cuts[axis].push_back(place);
    if (cuts[axis].empty()) cuts[axis].push_back(0);
  }
  std::vector<LatticeBrick> bricks;
  for (const std::size_t z : cuts[2]) {
    for (const std::size_t y : cuts[1]) {
      for (const std::size_t x : cuts[0]) {
        const auto end = [&](std::size_t axis, std::size_t from) { return std::min(from + side, counts[axis] - 1); };
        bricks.push_back({{x, y, z}, {end(0, x), end(1, y), end(2, z)}});
      }
    }
  }
  return bricks;
}

}  // namespace echoform::rays
