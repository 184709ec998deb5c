#include "rays/space_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace echoform::rays {
namespace {

/// A cell, given by its corner in multiples of the size of the finest cell.
using Cell = std::tuple<int, int, int>;

/// Edge of the cells with which a search begins, in finest cells.
constexpr int coarsest = 8;

}  // namespace

double SpaceShape::distance(Vector3 from) const {
  return spatial_ != nullptr ? spatial_->signed_distance(from) : curve_->signed_distance({from.x, from.z});
}

SpatialFoot SpaceShape::foot(Vector3 from) const {
  if (spatial_ != nullptr) return spatial_->foot(from);
  const SurfaceFoot found = curve_->foot({from.x, from.z});
  const Vector2 along = curve_->point(found.place).first;
  return {{found.at.x, from.y, found.at.z}, unit_of({-along.z, 0.0, along.x})};
}

bool SpaceShape::shadows() const {
  return spatial_ != nullptr ? spatial_->shadows() : curve_->shadows();
}

void SpaceBox::hold(Vector3 at) {
  low = {std::min(low.x, at.x), std::min(low.y, at.y), std::min(low.z, at.z)};
  high = {std::max(high.x, at.x), std::max(high.y, at.y), std::max(high.z, at.z)};
}

ShapePlaces places_on(const SpaceShape& shape, const SpaceBox& box, double size) {
  std::vector<Cell> cells;
  std::vector<Cell> open;
  const auto first = [&](double low) { return coarsest * static_cast<int>(std::floor(low / (coarsest * size))); };
  for (int i = first(box.low.x); i * size < box.high.x; i += coarsest) {
    for (int j = first(box.low.y); j * size < box.high.y; j += coarsest) {
      for (int k = first(box.low.z); k * size < box.high.z; k += coarsest) open.emplace_back(i, j, k);
    }
  }
  // No place of the surface is nearer to a cell's middle than distance() states.
  const double half_diagonal = 0.5 * std::sqrt(3.0) * size;
  for (int wide = coarsest; wide > 0; wide /= 2) {
    std::vector<Cell> finer;
    for (const auto& [i, j, k] : open) {
      const double half = 0.5 * wide;
      const Vector3 middle{(i + half) * size, (j + half) * size, (k + half) * size};
      if (!(std::abs(shape.distance(middle)) <= wide * half_diagonal)) continue;
      if (wide == 1) {
        cells.emplace_back(i, j, k);
        continue;
      }
      for (int part = 0; part < 8; ++part) {
        finer.emplace_back(i + (part % 2) * wide / 2, j + (part / 2 % 2) * wide / 2, k + (part / 4) * wide / 2);
      }
    }
    open = std::move(finer);
  }
  ShapePlaces places;
  std::map<Cell, std::uint32_t> index;
  std::vector<Vector3> normals;
  for (const Cell& cell : cells) {
    const auto& [i, j, k] = cell;
    const SpatialFoot foot = shape.foot({(i + 0.5) * size, (j + 0.5) * size, (k + 0.5) * size});
    index.emplace(cell, static_cast<std::uint32_t>(places.at.size()));
    places.at.push_back(foot.at);
    normals.push_back(foot.normal);
  }
  places.neighbours.resize(places.at.size());
  for (const auto& [cell, own] : index) {
    const auto& [i, j, k] = cell;
    for (int beside = 0; beside < 27; ++beside) {
      const auto found = index.find({i + beside % 3 - 1, j + beside / 3 % 3 - 1, k + beside / 9 - 1});
      if (found == index.end() || found->second == own || !(dot(normals[found->second], normals[own]) > 0.5)) continue;
      places.neighbours[own].push_back(found->second);
    }
  }
  return places;
}

}  // namespace echoform::rays
