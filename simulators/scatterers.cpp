#include "simulators/scatterers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr double farthest = 10.0;  // metres

/// Random numbers that are the same with every standard library; the distributions of the standard libraries differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform(double low, double high) { return low + (high - low) * unit(); }
  /// A normal number of mean 0 and variance 1, by Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }

 private:
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  std::mt19937_64 engine_;
};

double factor(double decibels) {
  return std::pow(10.0, decibels / 20.0);
}

double vessel_length(const Vessel& vessel) {
  return length(between(vessel.first, vessel.last));
}

double vessel_size(const Vessel& vessel, bool flat) {
  const double radius = vessel.radius.value;
  return vessel_length(vessel) * (flat ? 2.0 * radius : std::numbers::pi * radius * radius);
}

double disk_size(const Disk& disk, const SpeckleRegion& region) {
  const double area = std::numbers::pi * disk.radius.value * disk.radius.value;
  return region.flat() ? area : area * (region.y[1] - region.y[0]).value;
}

std::size_t count_in(double size, const SpeckleRegion& region) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(region.scatterers) * size / region.size()));
}

bool inside(const Point& place, const Cyst& cyst) {
  const Direction from = between(cyst.centre, place);
  return std::hypot(from.x, cyst.ball ? from.y : 0.0, from.z) < cyst.radius.value;
}

bool inside(const Point& place, const Disk& disk) {
  return std::hypot((place.x - disk.centre.x).value, (place.z - disk.centre.z).value) < disk.radius.value;
}

bool inside(const Point& place, const Vessel& vessel) {
  const Direction from = between(vessel.first, place);
  const Direction axis = unit(between(vessel.first, vessel.last));
  const double along = dot(from, axis);
  return along >= 0.0 && along <= vessel_length(vessel) && length(across(from, axis)) < vessel.radius.value;
}

/// Checks tissue, and names in its errors what it checks.
class TissueCheck {
 public:
  explicit TissueCheck(std::string_view where) : where_(where) {}

  void ends(std::string_view key, const std::array<Metres, 2>& ends, bool may_be_equal) const {
    const bool ordered = may_be_equal ? ends[0] <= ends[1] : ends[0] < ends[1];
    if (ordered && std::abs(ends[0].value) <= farthest && std::abs(ends[1].value) <= farthest) return;
    refuse(key, fmt::format("{:g} to {:g} m", ends[0].value, ends[1].value),
           fmt::format("the lower end first, within {:g} m", farthest));
  }
  void place(const std::string& key, const Point& place, double reach) const {
    for (const Metres value : {place.x, place.y, place.z}) {
      if (!(std::abs(value.value) <= farthest)) refuse(key, fmt::format("{:g} m", value.value), "places within 10 m");
    }
    if (!(place.z.value - reach > 0.0)) {
      refuse(key, fmt::format("a top at z = {:.3f} mm", 1e3 * (place.z.value - reach)), "inside the part, z > 0");
    }
  }
  void radius(const std::string& key, Metres radius) const {
    if (!(radius.value > 0.0 && radius.value <= farthest)) {
      refuse(key, fmt::format("a radius of {:g} m", radius.value), "more than 0, up to 10 m");
    }
  }
  void level(const std::string& key, double decibels) const {
    if (!(decibels <= 100.0)) refuse(key, fmt::format("{:g} dB", decibels), "up to 100 dB, or -inf");
  }
  void speed(const std::string& key, double value, double most, std::string_view unit) const {
    if (!(std::abs(value) <= most)) {
      refuse(key, fmt::format("{:g} {}", value, unit), fmt::format("-{0:g} to {0:g} {1}", most, unit));
    }
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& found, const std::string& expected) const {
    throw InputError(fmt::format("{} {}", where_, key), found, expected);
  }

 private:
  std::string_view where_;
};

}  // namespace

double SpeckleRegion::size() const {
  const double area = (x[1] - x[0]).value * (z[1] - z[0]).value;
  return flat() ? area : area * (y[1] - y[0]).value;
}

void validate(const Tissue& tissue, std::string_view where) {
  const TissueCheck check(where);
  const SpeckleRegion& region = tissue.speckle;
  if (tissue.empty()) {
    if (!tissue.cysts.empty() || !tissue.vessels.empty() || !tissue.disks.empty()) {
      check.refuse("scatterers", "0 with cysts, vessels or disks", "how many, for these are made of them");
    }
    return;
  }
  check.ends("speckle_x", region.x, false);
  check.ends("speckle_y", region.y, true);
  check.ends("speckle_z", region.z, false);
  if (!(region.z[0].value > 0.0)) check.refuse("speckle_z", fmt::format("{:g} m", region.z[0].value), "inside the part, z > 0");
  if (!(region.rms > 0.0 && region.rms <= 1e6))
    check.refuse("speckle_rms", fmt::format("{:g}", region.rms), "more than 0, up to 1e6");
  double count = static_cast<double>(region.scatterers);
  for (std::size_t i = 0; i < tissue.cysts.size(); ++i) {
    const Cyst& cyst = tissue.cysts[i];
    const std::string key = fmt::format("cyst {}", i);
    check.place(key, cyst.centre, -farthest);
    check.radius(key, cyst.radius);
    check.level(key, cyst.decibels);
  }
  for (std::size_t i = 0; i < tissue.vessels.size(); ++i) {
    const Vessel& vessel = tissue.vessels[i];
    const std::string key = fmt::format("vessel {}", i);
    check.radius(key, vessel.radius);
    check.place(key, vessel.first, vessel.radius.value);
    check.place(key, vessel.last, vessel.radius.value);
    check.level(key, vessel.decibels);
    check.speed(key, vessel.peak.value, 100.0, "m/s");
    if (!(vessel_length(vessel) > 1e-6)) check.refuse(key, "two ends at one place", "a tube of some length");
    if (region.flat() && (vessel.first.y != region.y[0] || vessel.last.y != region.y[0])) {
      check.refuse(key, "ends beside the plane of the speckle", "ends in it, or speckle_y with two ends");
    }
    count += static_cast<double>(region.scatterers) * vessel_size(vessel, region.flat()) / region.size();
  }
  for (std::size_t i = 0; i < tissue.disks.size(); ++i) {
    const Disk& disk = tissue.disks[i];
    const std::string key = fmt::format("disk {}", i);
    check.radius(key, disk.radius);
    check.place(key, disk.centre, disk.radius.value);
    check.level(key, disk.decibels);
    check.speed(key, disk.turns, 1e4, "turns a second");
    count += static_cast<double>(region.scatterers) * disk_size(disk, region) / region.size();
  }
  if (!(count <= static_cast<double>(most_scatterers))) {
    check.refuse("scatterers", fmt::format("{:.0f} with those that move", count), fmt::format("at most {}", most_scatterers));
  }
}

Scatterers::Scatterers(const Tissue& tissue) : disks_(tissue.disks) {
  const SpeckleRegion& region = tissue.speckle;
  Random random(tissue.seed);
  still_.reserve(region.scatterers);
  for (std::size_t k = 0; k < region.scatterers; ++k) {
    Scatterer scatterer;
    scatterer.place.x = Metres(random.uniform(region.x[0].value, region.x[1].value));
    scatterer.place.y = Metres(random.uniform(region.y[0].value, region.y[1].value));
    scatterer.place.z = Metres(random.uniform(region.z[0].value, region.z[1].value));
    scatterer.reflectivity = region.rms * random.normal();
    const auto holds = [&](const auto& part) { return inside(scatterer.place, part); };
    if (std::ranges::any_of(tissue.disks, holds) || std::ranges::any_of(tissue.vessels, holds)) continue;
    for (const Cyst& cyst : tissue.cysts) {
      if (inside(scatterer.place, cyst)) scatterer.reflectivity *= factor(cyst.decibels);
    }
    if (scatterer.reflectivity != 0.0) still_.push_back(scatterer);
  }
  for (std::size_t index = 0; index < tissue.vessels.size(); ++index) {
    const Vessel& vessel = tissue.vessels[index];
    Tube tube{vessel.first, unit(between(vessel.first, vessel.last)), {}, {}, vessel_length(vessel)};
    // The direction lies in the plane of x and z as far as the axis permits.
    const Direction beside = cross(Direction{0.0, 1.0, 0.0}, tube.axis);
    tube.across = unit(length(beside) > 1e-9 ? beside : Direction{1.0, 0.0, 0.0});
    tube.upwards = cross(tube.axis, tube.across);
    tubes_.push_back(tube);
    const double radius = vessel.radius.value;
    for (std::size_t k = count_in(vessel_size(vessel, region.flat()), region); k-- > 0;) {
      Flowing flowing{index, random.uniform(0.0, tube.length), random.uniform(-radius, radius), 0.0, 0.0, 0.0};
      if (!region.flat()) {
        // The points are uniform over the circle.
        const double from_axis = radius * std::sqrt(random.uniform(0.0, 1.0));
        const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
        flowing.across = from_axis * std::cos(angle);
        flowing.upwards = from_axis * std::sin(angle);
      }
      const double part = std::hypot(flowing.across, flowing.upwards) / radius;
      flowing.velocity = vessel.peak.value * (1.0 - part * part);
      flowing.reflectivity = region.rms * factor(vessel.decibels) * random.normal();
      flowing_.push_back(flowing);
    }
  }
  for (std::size_t index = 0; index < tissue.disks.size(); ++index) {
    const Disk& disk = tissue.disks[index];
    for (std::size_t k = count_in(disk_size(disk, region), region); k-- > 0;) {
      Turning turning{};
      turning.disk = index;
      turning.radius = disk.radius.value * std::sqrt(random.uniform(0.0, 1.0));
      turning.angle = random.uniform(0.0, 2.0 * std::numbers::pi);
      turning.y = random.uniform(region.y[0].value, region.y[1].value);
      turning.reflectivity = region.rms * factor(disk.decibels) * random.normal();
      turning_.push_back(turning);
    }
  }
}

void Scatterers::moving_at(double seconds, std::vector<Scatterer>& into) const {
  into.clear();
  for (const Flowing& flowing : flowing_) {
    const Tube& tube = tubes_[flowing.vessel];
    const double turns = (flowing.along + flowing.velocity * seconds) / tube.length;
    const double along = tube.length * (turns - std::floor(turns));
    const auto place = [&](Metres first, double a, double b, double c) {
      return first + Metres(along * a + flowing.across * b + flowing.upwards * c);
    };
    into.push_back({{place(tube.first.x, tube.axis.x, tube.across.x, tube.upwards.x),
                     place(tube.first.y, tube.axis.y, tube.across.y, tube.upwards.y),
                     place(tube.first.z, tube.axis.z, tube.across.z, tube.upwards.z)},
                    flowing.reflectivity});
  }
  for (const Turning& turning : turning_) {
    const Disk& disk = disks_[turning.disk];
    const double angle = turning.angle + 2.0 * std::numbers::pi * disk.turns * seconds;
    into.push_back({{disk.centre.x + Metres(turning.radius * std::sin(angle)), Metres(turning.y),
                     disk.centre.z + Metres(turning.radius * std::cos(angle))},
                    turning.reflectivity});
  }
}

}  // namespace echoform
