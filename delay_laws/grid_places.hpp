// Finds the index of a pixel by its place again.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/grid.hpp"

namespace echoform {

/// The pixels of a grid by their centres, which must be exactly what the grid gave out.
class GridPlaces {
 public:
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  explicit GridPlaces(const Grid& grid) : x_(grid.x), y_(grid.y), z_(grid.z) {}

  /// The index of the pixel whose centre is `point`, in image order; `nowhere` if `point` is no pixel's centre.
  [[nodiscard]] std::size_t find(const Point& point) const {
    const std::size_t ix = x_.find(point.x.value);
    const std::size_t iy = y_.find(point.y.value);
    const std::size_t iz = z_.find(point.z.value);
    if (ix == nowhere || iy == nowhere || iz == nowhere) return nowhere;
    return (iz * y_.count() + iy) * x_.count() + ix;
  }

 private:
  class AxisPlaces {
   public:
    explicit AxisPlaces(const Axis& axis) : first_(axis.first.value), spacing_(axis.spacing().value) {
      for (std::size_t k = 0; k < axis.count; ++k) places_.push_back(axis.at(k).value);
    }

    [[nodiscard]] std::size_t count() const { return places_.size(); }
    [[nodiscard]] std::size_t find(double place) const {
      const double steps = spacing_ > 0.0 ? std::floor((place - first_) / spacing_ + 0.5) : 0.0;
      if (!(steps >= 0.0 && steps < static_cast<double>(places_.size()))) return nowhere;
      const auto index = static_cast<std::size_t>(steps);
      return places_[index] == place ? index : nowhere;
    }

   private:
    double first_;
    double spacing_;
    std::vector<double> places_;
  };

  AxisPlaces x_;
  AxisPlaces y_;
  AxisPlaces z_;
};

}  // namespace echoform
