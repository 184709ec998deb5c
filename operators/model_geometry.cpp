#include "operators/model_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double spacing_tolerance = 1e-6;

bool within(const Axis& axis, Metres place) {
  return place >= axis.first && place <= axis.last;
}

}  // namespace

Metres voxel_spacing(const Grid& grid) {
  for (const Axis& axis : {grid.x, grid.z, grid.y}) {
    if (axis.count > 1) return axis.spacing();
  }
  return Metres(0.0);
}

Metres largest_half_diagonal(std::span<const Detector> detectors) {
  Metres largest;
  for (const Detector& detector : detectors) {
    if (!detector.dead) largest = std::max(largest, Metres(0.5 * std::hypot(detector.width.value, detector.length.value)));
  }
  return largest;
}

void validate(const ModelGeometry& geometry, const char* where) {
  const auto refuse = [&](std::string_view what, const std::string& found, std::string_view expected) {
    throw InputError(fmt::format("{}, {}", where, what), found, std::string(expected));
  };
  validate(geometry.grid, where);
  if (geometry.detectors.empty()) refuse("detectors", "none", "one at least");
  if (geometry.samples == 0) refuse("samples", "none", "one at least");
  const auto is_positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  if (!is_positive(geometry.sample_rate.value))
    refuse("sample rate", fmt::format("{} Hz", geometry.sample_rate.value), "above 0");
  if (!is_positive(geometry.velocity.value)) refuse("velocity", fmt::format("{} m/s", geometry.velocity.value), "above 0");
  if (!std::isfinite(geometry.start_time.value)) refuse("start time", fmt::format("{} s", geometry.start_time.value), "a time");
  const Grid& grid = geometry.grid;
  const double spacing = voxel_spacing(grid).value;
  if (!(spacing > 0.0)) refuse("grid", "one voxel", "several");
  for (const Axis& axis : {grid.x, grid.y, grid.z}) {
    if (axis.count == 1 || std::abs(axis.spacing().value / spacing - 1.0) <= spacing_tolerance) continue;
    refuse("grid", fmt::format("voxels {:.6g} and {:.6g} mm apart", 1e3 * spacing, 1e3 * axis.spacing().value),
           "as far along each axis");
  }
  for (std::size_t k = 0; k < geometry.detectors.size(); ++k) {
    const Point& at = geometry.detectors[k].centre;
    if (!std::isfinite(at.x.value) || !std::isfinite(at.y.value) || !std::isfinite(at.z.value)) {
      refuse(fmt::format("detector {}", k), fmt::format("({}, {}, {}) m", at.x.value, at.y.value, at.z.value), "a place");
    }
    if (!within(grid.x, at.x) || !within(grid.y, at.y) || !within(grid.z, at.z)) continue;
    refuse(fmt::format("detector {}", k),
           fmt::format("({:.4g}, {:.4g}, {:.4g}) mm, within the grid", 1e3 * at.x.value, 1e3 * at.y.value, 1e3 * at.z.value),
           "detectors around it");
  }
}

}  // namespace echoform
