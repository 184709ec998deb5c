#include "operators/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/errors.hpp"

namespace echoform {

Arrivals arrivals_of(const ModelGeometry& geometry) {
  const Grid& grid = geometry.grid;
  const std::array<Axis, 3> axes{grid.x, grid.y, grid.z};
  double least = std::numeric_limits<double>::infinity();  // squares of distances
  double most = 0.0;
  for (const Detector& detector : geometry.detectors) {
    if (detector.dead) continue;
    const std::array<Metres, 3> place{detector.centre.x, detector.centre.y, detector.centre.z};
    double near = 0.0;
    double far = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double before = (axes[a].first - place[a]).value;
      const double after = (place[a] - axes[a].last).value;
      const double outside = std::max({before, after, 0.0});
      const double across = std::max(std::abs(before), std::abs(after));
      near += outside * outside;
      far += across * across;
    }
    least = std::min(least, near);
    most = std::max(most, far);
  }
  if (!(least <= most)) return {};
  return {Metres(std::sqrt(least)) / geometry.velocity, Metres(std::sqrt(most)) / geometry.velocity};
}

void require_sound(const ModelGeometry& geometry, const char* where) {
  validate(geometry, where);
  const double start = geometry.start_time.value;
  if (!std::isfinite(start)) {
    throw InputError(fmt::format("{}, start time", where), fmt::format("{} s", start), "a time");
  }
  if (std::all_of(geometry.detectors.begin(), geometry.detectors.end(), [](const Detector& d) { return d.dead; })) return;
  const Arrivals arrivals = arrivals_of(geometry);
  const double end = start + static_cast<double>(geometry.samples) / geometry.sample_rate.value;
  if (arrivals.first.value < end && arrivals.last.value > start) return;
  throw InputError(fmt::format("{}, record", where), fmt::format("{:.4g} to {:.4g} us", 1e6 * start, 1e6 * end),
                   fmt::format("sound of the grid, which arrives from {:.4g} to {:.4g} us", 1e6 * arrivals.first.value,
                               1e6 * arrivals.last.value));
}

}  // namespace echoform
