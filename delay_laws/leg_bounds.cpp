#include "delay_laws/leg_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/planning.hpp"
#include "delay_laws/over_sources.hpp"

namespace echoform {
namespace {

constexpr TimeRange nothing{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

/// Smallest and greatest distance along one axis from `place` to the interval between the axis' ends.
struct Reach {
  double least;
  double greatest;
};
Reach reach(Metres place, const Axis& axis) {
  const double to_first = (axis.first - place).value;
  const double to_last = (axis.last - place).value;
  return {std::max({to_first, -to_last, 0.0}), std::max(std::abs(to_first), std::abs(to_last))};
}

TimeRange point_source_bounds(const PointSourceForm& form, const Grid& grid) {
  const Reach x = reach(form.origin.x, grid.x);
  const Reach y = reach(form.origin.y, grid.y);
  const Reach z = reach(form.origin.z, grid.z);
  const double near = std::sqrt(x.least * x.least + y.least * y.least + z.least * z.least);
  const double far = std::sqrt(x.greatest * x.greatest + y.greatest * y.greatest + z.greatest * z.greatest);
  return {near / form.velocity.value + form.offset.value, far / form.velocity.value + form.offset.value};
}

TimeRange pixel_bounds(const Leg& leg, std::size_t source, const Grid& grid) {
  TimeRange range = nothing;
  constexpr std::size_t batch = 1024;
  std::vector<Point> points;
  points.reserve(batch);
  std::array<double, batch> seconds{};
  for (std::size_t first = 0; first < grid.pixels(); first += batch) {
    keep_planning();
    const std::size_t last = std::min(first + batch, grid.pixels());
    points.clear();
    for (std::size_t pixel = first; pixel < last; ++pixel) points.push_back(grid.at(pixel));
    const std::span<double> times(seconds.data(), points.size());
    leg.travel_times(source, points, times);
    for (const double time : times) {
      if (std::isnan(time)) continue;
      range.least = std::min(range.least, time);
      range.greatest = std::max(range.greatest, time);
    }
  }
  return range;
}

}  // namespace

std::vector<TimeRange> leg_bounds(const Leg& leg, const Grid& grid, std::size_t threads) {
  std::vector<TimeRange> bounds(leg.sources(), nothing);
  std::vector<std::size_t> others;
  for (std::size_t source = 0; source < bounds.size(); ++source) {
    if (const auto form = leg.point_source_on(source, grid)) {
      bounds[source] = point_source_bounds(*form, grid);
    } else {
      others.push_back(source);
    }
  }
  over_sources(others.size(), threads, [&](std::size_t k) { bounds[others[k]] = pixel_bounds(leg, others[k], grid); });
  return bounds;
}

bool same_leg(const Leg& a, const Leg& b) {
  if (a.is(b)) return true;
  if (a.sources() != b.sources()) return false;
  for (std::size_t source = 0; source < a.sources(); ++source) {
    const auto one = a.point_source(source);
    const auto other = b.point_source(source);
    if (!one || !other || one->origin != other->origin || one->velocity != other->velocity || one->offset != other->offset) {
      return false;
    }
  }
  return true;
}

bool mirrored(const DelayLaw& a, const DelayLaw& b) {
  return same_leg(*a.transmit, *b.receive) && same_leg(*a.receive, *b.transmit);
}

}  // namespace echoform
