#include "methods/scan_settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "acquisition/probe_frame.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "config/configuration.hpp"

namespace echoform {
namespace {

Direction direction_of(const std::array<double, 3>& given) {
  return {given[0], given[1], given[2]};
}

void require_length(const Configuration& configuration, std::string_view key, const std::array<double, 3>& given) {
  if (length(direction_of(given)) > 0.0) return;
  throw InputError(configuration.place(key), fmt::format("[{}, {}, {}]", given[0], given[1], given[2]),
                   "a direction: three numbers of which one is not 0");
}

}  // namespace

bool scans(const Configuration& configuration) {
  return section<ScanSection>(configuration).path != ScanPath::none;
}

void check_scan(const Configuration& configuration) {
  if (!scans(configuration)) return;
  const ScanSection& scan = section<ScanSection>(configuration);
  if (scan.path == ScanPath::line) require_length(configuration, "[scan] direction", scan.direction);
  if (scan.path == ScanPath::circle) require_length(configuration, "[scan] axis", scan.axis);
  if (std::abs(scan.sign) != 1.0) throw InputError(configuration.place("[scan] sign"), fmt::format("{}", scan.sign), "1 or -1");
  const GridSection& grid = configuration.grid;
  const auto require = [&](bool stated, std::string_view key) {
    if (stated) return;
    throw InputError(configuration.place(key), "none", "[first, last] in m: the image of a scan stays where the part is");
  };
  require(grid.x.has_value(), "[grid] x");
  require(grid.z.has_value(), "[grid] z");
  require(grid.y.has_value() || grid.pixels.y == 1, "[grid] y");
}

Direction scan_direction(const ScanSection& scan) {
  return unit(direction_of(scan.direction));
}

EncoderScale encoder_scale(const Configuration& configuration) {
  const ScanSection& scan = section<ScanSection>(configuration);
  return {scan.origin, scan.sign * scan.encoder_step, scan.step.value_or(scan.encoder_step)};
}

RigidMotion scan_motion(const Configuration& configuration, const Probe& placed, Metres s) {
  const ScanSection& scan = section<ScanSection>(configuration);
  RigidMotion motion;
  if (scan.path == ScanPath::line) {
    const Direction way = scaled(scan_direction(scan), s.value);
    motion.shift = {Metres(way.x), Metres(way.y), Metres(way.z)};
    return motion;
  }
  if (scan.path != ScanPath::circle) return motion;
  motion.pivot = {scan.centre[0], scan.centre[1], scan.centre[2]};
  motion.axis = unit(direction_of(scan.axis));
  const Direction from = between(motion.pivot, frame_of(placed).origin);
  const double radius = length(across(from, motion.axis));
  if (!(radius > 1e-6)) {
    throw InputError(configuration.place("[scan] centre"), "an axis through the middle of the probe's elements",
                     "a place on one that the probe goes around");
  }
  motion.angle = s.value / radius;
  return motion;
}

}  // namespace echoform
