#include "stages/beamform/law_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "base/errors.hpp"
#include "cpu/for_each_or_throw.hpp"
#include "stages/beamform/apodization.hpp"

namespace echoform::beamform {
namespace {

/// Whether some pixel is out of some source's reach, where the sources' forms say so.
std::optional<bool> known_invalid_times(const Leg& leg, const Grid& grid) {
  bool all = true;
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    if (leg.reaches_nothing(source)) return true;
    all = all && (leg.point_source_on(source, grid) || leg.plane_wave_on(source, grid) || leg.revolved(source));
  }
  return all ? std::optional(false) : std::nullopt;
}

bool has_invalid_times(const Leg& leg, const std::vector<Point>& points, ThreadTeam& team) {
  std::atomic<bool> found{false};
  for_each_or_throw(team, leg.sources(), 1, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<double> times(points.size());
    for (std::size_t source = first; source < last && !found; ++source) {
      leg.travel_times(source, points, times);
      if (std::any_of(times.begin(), times.end(), [](double t) { return std::isnan(t); })) found = true;
    }
  });
  return found;
}

}  // namespace

void check_directivity(const BeamformOptions& options) {
  if (!options.aperture.apodization.directivity) return;
  const bool events = !options.aperture.event_weights.empty();
  for (const auto& leg : {events ? options.law.receive : options.law.transmit, options.law.receive}) {
    if (directivity_velocity(options.aperture, *leg, 0).value > 0.0) continue;
    throw InputError("[apodization] directivity", "a material without longitudinal velocity",
                     "[material] longitudinal_velocity, which the directivity needs");
  }
}

bool has_invalid_times(const DelayLaw& law, const Grid& grid, ThreadTeam& team) {
  std::vector<Point> points;
  for (const auto& leg : {law.transmit, law.receive}) {
    if (const auto known = known_invalid_times(*leg, grid)) {
      if (*known) return true;
      continue;
    }
    if (points.empty()) points = grid.points();
    if (has_invalid_times(*leg, points, team)) return true;
    if (law.reciprocal()) return false;
  }
  return false;
}

void refuse_times(const DelayLaw& law, std::size_t source) {
  throw InputError(fmt::format("delay law {}, source {}", law.view, source), "an infinite travel time or one of 1 s and more",
                   "finite times below 1 s, or NaN where there is no path");
}

void refuse_distance(const DelayLaw& law, std::size_t source) {
  throw InputError(fmt::format("delay law {}, source {}", law.view, source),
                   fmt::format("pixels more than {:.0f} samples away from the first one of an A-scan", delay_limit),
                   "a sample rate, a start time and a time offset that fit the grid");
}

}  // namespace echoform::beamform
