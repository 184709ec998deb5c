#include "rays/brick_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace echoform::rays {
namespace {

constexpr std::size_t widest = 8;  ///< steps of a brick
constexpr unsigned corners = 8;
/// Places nearer to each other than this count as one: Newton's steps end below 1e-9 m.
constexpr double same_place = 1e-7;

class BrickSearch {
 public:
  BrickSearch(const PointLattice& lattice, std::span<const Point> points, const WaySearch& search,
              const std::function<void(std::uint32_t, const std::optional<SpaceWay>&)>& tell)
      : lattice_(lattice), points_(points), search_(search), tell_(tell), told_(points.size()) {}

  void run() {
    for (const LatticeBrick& brick : bricks_of(lattice_.counts(), widest)) take(brick);
  }

 private:
  struct Corner {
    SearchedWay found;
    double room = 0.0;  ///< of the search that found it
  };
  using Corners = std::array<const Corner*, corners>;

  template <class Body>
  void each(const LatticeBrick& brick, const Body& body) const {
    PointLattice::Place at{};
    for (at[2] = brick.low[2]; at[2] <= brick.high[2]; ++at[2]) {
      for (at[1] = brick.low[1]; at[1] <= brick.high[1]; ++at[1]) {
        for (at[0] = brick.low[0]; at[0] <= brick.high[0]; ++at[0]) {
          const std::uint32_t point = lattice_.at(at);
          if (point != PointLattice::none && told_[point] == 0) body(at, point);
        }
      }
    }
  }

  void take(const LatticeBrick& brick) {
    if (!brick.smallest()) {
      Corners at{};
      if (agree(brick, at)) return fill(brick, at);
      for (const LatticeBrick& part : brick.split()) take(part);
      return;
    }
    each(brick, [&](const PointLattice::Place&, std::uint32_t point) {
      const auto known = corners_.find(point);
      finish(point, known != corners_.end() ? known->second.found.way : search_.fully(point, 0.0).way);
    });
  }

  /// Whether the brick has one branch of paths, as far as its corners show.
  [[nodiscard]] bool agree(const LatticeBrick& brick, Corners& at) {
    std::array<std::uint32_t, corners> points{};
    for (unsigned k = 0; k < corners; ++k) {
      points[k] = lattice_.at(brick.corner(k));
      if (points[k] == PointLattice::none) return false;
    }
    double diagonal = 0.0;
    for (unsigned k = 0; k < corners / 2; ++k)
      diagonal = std::max(diagonal, length(vector_of(points_[points[corners - 1 - k]]) - vector_of(points_[points[k]])));
    // Every point lies within half a diagonal of some corner, and both times may change in either direction.
    const double room = search_.slowness * diagonal;
    for (unsigned k = 0; k < corners; ++k) {
      at[k] = &corner(points[k], room);
      if (!at[k]->found.way || !(at[k]->found.lead > room)) return false;
    }
    for (unsigned k = 0; k < corners; ++k) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        const unsigned other = k | 1U << axis;
        if (other == k || points[other] == points[k]) continue;
        if (!leads_on(*at[k]->found.way, points[other], *at[other]->found.way)) return false;
      }
    }
    return true;
  }

  const Corner& corner(std::uint32_t point, double room) {
    const auto [place, fresh] = corners_.try_emplace(point);
    if (fresh || room > place->second.room) place->second = {search_.fully(point, room), room};
    return place->second;
  }

  [[nodiscard]] bool leads_on(const SpaceWay& from, std::uint32_t point, const SpaceWay& to) const {
    std::array<Vector3, most_interfaces> near{};
    for (std::size_t k = 0; k < search_.surfaces; ++k) near[k] = from.places[k].at;
    const auto way = search_.nearby(point, std::span(near).first(search_.surfaces));
    if (!way) return false;
    for (std::size_t k = 0; k < search_.surfaces; ++k) {
      if (length(way->places[k].at - to.places[k].at) > same_place) return false;
    }
    return true;
  }

  void fill(const LatticeBrick& brick, const Corners& at) {
    each(brick, [&](const PointLattice::Place& place, std::uint32_t point) {
      if (const auto known = corners_.find(point); known != corners_.end()) return finish(point, known->second.found.way);
      const auto way = between(brick, at, place, point);
      finish(point, way ? way : search_.fully(point, 0.0).way);
    });
  }

  /// The path to a point of the brick. The search begins at the corners' places, weighted by how near the corners are.
  [[nodiscard]] std::optional<SpaceWay> between(const LatticeBrick& brick, const Corners& at, const PointLattice::Place& place,
                                                std::uint32_t point) const {
    std::array<double, corners> weights{};
    for (unsigned k = 0; k < corners; ++k) {
      weights[k] = 1.0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto wide = static_cast<double>(brick.high[axis] - brick.low[axis]);
        const double part = wide > 0.0 ? static_cast<double>(place[axis] - brick.low[axis]) / wide : 0.0;
        weights[k] *= (k >> axis & 1U) != 0 ? part : 1.0 - part;
      }
    }
    std::array<Vector3, most_interfaces> near{};
    for (std::size_t s = 0; s < search_.surfaces; ++s) {
      for (unsigned k = 0; k < corners; ++k) near[s] = near[s] + weights[k] * at[k]->found.way->places[s].at;
    }
    auto way = search_.nearby(point, std::span(near).first(search_.surfaces));
    if (!way) return std::nullopt;
    for (std::size_t s = 0; s < search_.surfaces; ++s) {
      double spread = same_place;
      for (unsigned k = 0; k < corners; ++k) spread = std::max(spread, length(at[k]->found.way->places[s].at - near[s]));
      if (length(way->places[s].at - near[s]) > spread) return std::nullopt;
    }
    return search_.passes(point, *way) ? way : std::nullopt;
  }

  void finish(std::uint32_t point, const std::optional<SpaceWay>& way) {
    told_[point] = 1;
    tell_(point, way);
  }

  const PointLattice& lattice_;
  std::span<const Point> points_;
  const WaySearch& search_;
  const std::function<void(std::uint32_t, const std::optional<SpaceWay>&)>& tell_;
  std::vector<std::uint8_t> told_;
  std::unordered_map<std::uint32_t, Corner> corners_;  // references stay valid
};

}  // namespace

void search_by_bricks(const PointLattice& lattice, std::span<const Point> points, const WaySearch& search,
                      const std::function<void(std::uint32_t, const std::optional<SpaceWay>&)>& tell) {
  BrickSearch(lattice, points, search, tell).run();
}

}  // namespace echoform::rays
