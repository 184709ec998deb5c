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

void require_length(const ImagingSettings& settings, std::string_view key, const std::array<double, 3>& given) {
  if (length(direction_of(given)) > 0.0) return;
  throw InputError(settings.place(key), fmt::format("[{}, {}, {}]", given[0], given[1], given[2]),
                   "a direction: three numbers of which one is not 0");
}

}  // namespace

bool scans(const ImagingSettings& settings) {
  return section<ScanSection>(settings).path != ScanPath::none;
}

bool keeps_scan(const ImagingSettings& settings) {
  return scans(settings) && !section<ScanSection>(settings).file.empty();
}

void check_scan_path(const ImagingSettings& settings) {
  if (!scans(settings)) return;
  const ScanSection& scan = section<ScanSection>(settings);
  if (scan.path == ScanPath::line) require_length(settings, "[scan] direction", scan.direction);
  if (scan.path == ScanPath::circle) require_length(settings, "[scan] axis", scan.axis);
  if (std::abs(scan.sign) != 1.0) throw InputError(settings.place("[scan] sign"), fmt::format("{}", scan.sign), "1 or -1");
}

void check_scan(const ImagingSettings& settings) {
  if (!scans(settings)) return;
  check_scan_path(settings);
  const GridSection& grid = settings.grid;
  const auto require = [&](bool stated, std::string_view key) {
    if (stated) return;
    throw InputError(settings.place(key), "none", "[first, last] in m: the image of a scan stays where the part is");
  };
  require(grid.x.has_value(), "[grid] x");
  require(grid.z.has_value(), "[grid] z");
  require(grid.y.has_value() || grid.pixels.y == 1, "[grid] y");
}

Direction scan_direction(const ScanSection& scan) {
  return unit(direction_of(scan.direction));
}

EncoderScale encoder_scale(const ImagingSettings& settings) {
  const ScanSection& scan = section<ScanSection>(settings);
  return {scan.origin, scan.sign * scan.encoder_step, scan.step.value_or(scan.encoder_step)};
}

RigidMotion motion_by(const ScanSection& scan, double way) {
  RigidMotion motion;
  if (scan.path == ScanPath::line) {
    const Direction shift = scaled(scan_direction(scan), way);
    motion.shift = {Metres(shift.x), Metres(shift.y), Metres(shift.z)};
  }
  if (scan.path == ScanPath::circle) {
    motion.pivot = {scan.centre[0], scan.centre[1], scan.centre[2]};
    motion.axis = unit(direction_of(scan.axis));
    motion.angle = way;
  }
  return motion;
}

Metres length_of_way(const ImagingSettings& settings, const Probe& placed) {
  const ScanSection& scan = section<ScanSection>(settings);
  if (scan.path != ScanPath::circle) return Metres(1.0);
  const RigidMotion still = motion_by(scan, 0.0);
  const double radius = length(across(between(still.pivot, frame_of(placed).origin), still.axis));
  if (!(radius > 1e-6)) {
    throw InputError(settings.place("[scan] centre"), "an axis through the middle of the probe's elements",
                     "a place on one that the probe goes around");
  }
  return Metres(radius);
}

RigidMotion scan_motion(const ImagingSettings& settings, const Probe& placed, Metres s) {
  return motion_by(section<ScanSection>(settings), s / length_of_way(settings, placed));
}

double way_of(const ScanSection& scan, const Pose& pose) {
  if (scan.path == ScanPath::line) return dot(between(Point{}, pose.origin), scan_direction(scan));
  if (scan.path != ScanPath::circle) return 0.0;
  // The rotation about the axis is found from the pose's axes, which are the columns of a rotation matrix. A further rotation by
  // t about the axis rotates (cosine, sine) by t, whatever the matrix.
  const Direction axis = unit(direction_of(scan.axis));
  const Direction& x = pose.x;
  const Direction& y = pose.y;
  const Direction z = cross(x, y);
  const double sine = axis.x * (y.z - z.y) + axis.y * (z.x - x.z) + axis.z * (x.y - y.x);
  const Direction turned{dot({x.x, y.x, z.x}, axis), dot({x.y, y.y, z.y}, axis), dot({x.z, y.z, z.z}, axis)};
  const double cosine = x.x + y.y + z.z - dot(axis, turned);
  return std::atan2(sine, cosine);
}

Pose moved(const Pose& pose, const RigidMotion& motion) {
  return {motion.of(pose.origin), motion.of(pose.x), motion.of(pose.y)};
}

}  // namespace echoform
