#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "simulators/solid_shapes.hpp"

namespace echoform::simulated {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Spot corner_of(const std::array<double, 3>& at) {
  return {at[0], at[1], at[2]};
}

/// The distance from the nearest place of a triangle, which lies within it or on one of its edges.
double distance_from(const std::array<Spot, 3>& corners, const Spot& from) {
  const Spot normal = outer(corners[1] - corners[0], corners[2] - corners[0]);
  bool within = true;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 3; ++k) {
    const Spot& a = corners[k];
    const Spot edge = corners[(k + 1) % 3] - a;
    within = within && inner(outer(edge, from - a), normal) >= 0.0;
    const double share = std::clamp(inner(from - a, edge) / inner(edge, edge), 0.0, 1.0);
    least = std::min(least, distance(a + share * edge, from));
  }
  return within ? std::abs(inner(from - corners[0], unit(normal))) : least;
}

class MeshShape final : public SampledShape {
 public:
  MeshShape(const CurveShape& shape, std::span<const Spot> places, const Spot& probe, std::size_t count) {
    double volume = 0.0;
    for (const MeshTriangle& triangle : *shape.triangles) {
      triangles_.push_back({corner_of(triangle[0]), corner_of(triangle[1]), corner_of(triangle[2])});
      const auto& [a, b, c] = triangles_.back();
      volume += inner(a, outer(b, c));
    }
    // All triangles have the same orientation: all outwards, or all inwards. Here all are made to face outwards.
    if (volume < 0.0) {
      for (auto& triangle : triangles_) std::swap(triangle[1], triangle[2]);
    }
    Spot middle;
    for (const Spot& place : places) middle = middle + (1.0 / static_cast<double>(places.size())) * place;
    // The line of sight goes to the triangle where a path between probe and places is shortest: for a front the path through it,
    // for a backwall the path reflected at it.
    Spot nearest = probe;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [a, b, c] : triangles_) {
      const Spot at = (1.0 / 3.0) * (a + b + c);
      const double way = distance(probe, at) + distance(at, middle);
      if (!(way < least)) continue;
      least = way;
      nearest = at;
    }
    sight_ = distance(nearest, probe) > 1e-6 ? unit(nearest - probe) : Spot{0.0, 0.0, 1.0};
    right_ = square_to(sight_);
    up_ = outer(sight_, right_);
    start_ = inner(probe, sight_);
    put_into_cells();
    // The region that paths between the places may meet: the region between them, and a margin of a quarter of their extent.
    Bounds seen;
    for (const Spot& place : places) seen.hold(across(place));
    const double margin = 0.25 * std::hypot(seen.high[0] - seen.low[0], seen.high[1] - seen.low[1]) + 1e-3;
    const auto range = [&](std::size_t a) {
      const double low = std::max(seen.low[a] - margin, whole_.low[a]);
      const double high = std::min(seen.high[a] + margin, whole_.high[a]);
      return low < high ? evenly(low, high, count) : evenly(seen.low[a] - margin, seen.high[a] + margin, count);
    };
    sample(range(0), range(1));
  }

  [[nodiscard]] Spot at(Parameters2 at) const override {
    const Hit hit = first_hit(at, start_, true);
    if (!hit.found) return {none, none, none};
    return at.u * right_ + at.v * up_ + hit.far * sight_;
  }
  [[nodiscard]] Spot normal(Parameters2 at) const override {
    const Hit hit = first_hit(at, start_, true);
    if (!hit.found) return {none, none, none};
    const auto& [a, b, c] = triangles_[hit.triangle];
    return -1.0 * unit(outer(b - a, c - a));
  }
  [[nodiscard]] double depth_below(const Spot& place) const override {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& triangle : triangles_) least = std::min(least, distance_from(triangle, place));
    // The next triangle along the line of sight determines on which side the place lies.
    const std::array<double, 2> at = across(place);
    const Hit hit = first_hit({at[0], at[1]}, inner(place, sight_), false);
    return hit.found && !hit.enters ? least : -least;
  }
  [[nodiscard]] bool blocks(const Spot& a, const Spot& b) const override {
    const double whole = distance(a, b);
    constexpr double near = 1e-6;  // m
    if (!(whole > 2.0 * near)) return false;
    const Spot way = (1.0 / whole) * (b - a);
    Bounds under;
    under.hold(across(a));
    under.hold(across(b));
    bool met = false;
    each_in(under, [&](std::uint32_t k) {
      if (met) return;
      const auto& [p, q, r] = triangles_[k];
      const Spot normal = outer(q - p, r - p);
      const double towards = inner(normal, way);
      if (towards == 0.0) return;
      const double far = inner(normal, p - a) / towards;
      if (!(far > near && far < whole - near)) return;
      const Spot at = a + far * way;
      met = inner(outer(q - p, at - p), normal) >= 0.0 && inner(outer(r - q, at - q), normal) >= 0.0 &&
            inner(outer(p - r, at - r), normal) >= 0.0;
    });
    return met;
  }

 private:
  struct Bounds {
    std::array<double, 2> low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    std::array<double, 2> high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

    void hold(const std::array<double, 2>& at) {
      for (std::size_t a = 0; a < 2; ++a) {
        low[a] = std::min(low[a], at[a]);
        high[a] = std::max(high[a], at[a]);
      }
    }
  };
  struct Hit {
    bool found = false;
    bool enters = false;
    double far = 0.0;
    std::uint32_t triangle = 0;
  };

  [[nodiscard]] std::array<double, 2> across(const Spot& at) const { return {inner(at, right_), inner(at, up_)}; }

  [[nodiscard]] Bounds bounds_of(std::uint32_t k) const {
    Bounds bounds;
    for (const Spot& corner : triangles_[k]) bounds.hold(across(corner));
    return bounds;
  }

  [[nodiscard]] std::size_t cell(double at, std::size_t a) const {
    const double share = (at - whole_.low[a]) / std::max(whole_.high[a] - whole_.low[a], 1e-12);
    return static_cast<std::size_t>(std::clamp(share * static_cast<double>(cells_), 0.0, static_cast<double>(cells_ - 1)));
  }

  template <class Do>
  void each_in(const Bounds& bounds, const Do& call) const {
    for (std::size_t a = 0; a < 2; ++a) {
      if (bounds.high[a] < whole_.low[a] || bounds.low[a] > whole_.high[a]) return;
    }
    for (std::size_t row = cell(bounds.low[1], 1); row <= cell(bounds.high[1], 1); ++row) {
      for (std::size_t column = cell(bounds.low[0], 0); column <= cell(bounds.high[0], 0); ++column) {
        for (const std::uint32_t k : in_cell_[row * cells_ + column]) call(k);
      }
    }
  }

  void put_into_cells() {
    const auto count = static_cast<std::uint32_t>(triangles_.size());
    for (std::uint32_t k = 0; k < count; ++k) {
      const Bounds bounds = bounds_of(k);
      whole_.hold(bounds.low);
      whole_.hold(bounds.high);
    }
    cells_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::sqrt(static_cast<double>(count))), 1, 512);
    in_cell_.resize(cells_ * cells_);
    for (std::uint32_t k = 0; k < count; ++k) {
      const Bounds bounds = bounds_of(k);
      for (std::size_t row = cell(bounds.low[1], 1); row <= cell(bounds.high[1], 1); ++row) {
        for (std::size_t column = cell(bounds.low[0], 0); column <= cell(bounds.high[0], 0); ++column)
          in_cell_[row * cells_ + column].push_back(k);
      }
    }
  }

  /// The first hit along the line of sight at `at`, beyond `from`.
  [[nodiscard]] Hit first_hit(Parameters2 at, double from, bool entering) const {
    Hit first;
    Bounds here;
    here.hold({at.u, at.v});
    const Spot base = at.u * right_ + at.v * up_;
    each_in(here, [&](std::uint32_t k) {
      const auto& [a, b, c] = triangles_[k];
      const Spot normal = outer(b - a, c - a);
      const double towards = inner(normal, sight_);
      if (towards == 0.0 || (entering && towards > 0.0)) return;
      // The signs state on which side of each edge the line passes. The tolerance keeps rounding from letting a line slip through
      // a corner.
      const double rounding = 1e-12 * std::abs(towards);
      const double sense = towards > 0.0 ? 1.0 : -1.0;
      const auto passes = [&](const Spot& p, const Spot& q) {
        return sense * inner(outer(q - p, base - p), sight_) >= -rounding;
      };
      if (!passes(a, b) || !passes(b, c) || !passes(c, a)) return;
      const double far = inner(normal, a - base) / towards;
      if (far < from || (first.found && far >= first.far)) return;
      first = {true, towards < 0.0, far, k};
    });
    return first;
  }

  std::vector<std::array<Spot, 3>> triangles_;  // oriented outwards
  Spot sight_;
  Spot right_;
  Spot up_;
  double start_ = 0.0;
  Bounds whole_;
  std::size_t cells_ = 1;
  std::vector<std::vector<std::uint32_t>> in_cell_;
};

}  // namespace

std::unique_ptr<const SampledShape> sample_mesh(const CurveShape& shape, std::span<const Spot> places, const Spot& probe,
                                                std::size_t count) {
  return std::make_unique<const MeshShape>(shape, places, probe, count);
}

}  // namespace echoform::simulated
