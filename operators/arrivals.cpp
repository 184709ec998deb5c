#include "operators/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.hpp"

namespace echoform {

Arrivals arrivals_at(const ModelGeometry& geometry, const Detector& detector) {
  const Grid& grid = geometry.grid;
  const std::array<Axis, 3> axes{grid.x, grid.y, grid.z};
  const std::array<Metres, 3> place{detector.centre.x, detector.centre.y, detector.centre.z};
  double near = 0.0;  // squares of distances
  double far = 0.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double before = (axes[a].first - place[a]).value;
    const double after = (place[a] - axes[a].last).value;
    const double outside = std::max({before, after, 0.0});
    const double across = std::max(std::abs(before), std::abs(after));
    near += outside * outside;
    far += across * across;
  }
  return {Metres(std::sqrt(near)) / geometry.velocity, Metres(std::sqrt(far)) / geometry.velocity};
}

Arrivals arrivals_of(const ModelGeometry& geometry) {
  Arrivals all;
  bool any = false;
  for (const Detector& detector : geometry.detectors) {
    if (detector.dead) continue;
    const Arrivals own = arrivals_at(geometry, detector);
    all = any ? Arrivals{std::min(all.first, own.first), std::max(all.last, own.last)} : own;
    any = true;
  }
  return all;
}

Arrivals record_of(const ModelGeometry& geometry) {
  return {geometry.start_time, geometry.start_time + static_cast<double>(geometry.samples - 1) / geometry.sample_rate};
}

void require_sound(const ModelGeometry& geometry, const char* where) {
  const Arrivals record = record_of(geometry);
  bool any = false;
  for (const Detector& detector : geometry.detectors) {
    if (detector.dead) continue;
    any = true;
    // Each detector is checked by itself: one may be too near and another too far away.
    const Arrivals own = arrivals_at(geometry, detector);
    if (own.first <= record.last && own.last >= record.first) return;
  }
  if (!any) return;
  throw InputError(where,
                   fmt::format("sound that comes after {} at {:g} m/s", text_of(arrivals_of(geometry)), geometry.velocity.value),
                   fmt::format("some of it within the record, {}", text_of(record)));
}

std::string text_of(const Arrivals& arrivals) {
  return fmt::format("{:.4g} to {:.4g} us", 1e6 * arrivals.first.value, 1e6 * arrivals.last.value);
}

}  // namespace echoform
