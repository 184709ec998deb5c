#include "config/probe_positions.hpp"

#include <fmt/format.h>

#include <utility>

#include "acquisition/positions.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::size_t numbers_of_place = 3;
constexpr std::size_t numbers_of_pose = 9;

/// Directions in a file may have any length, and the direction of y only determines the plane.
Pose pose_of(const std::vector<double>& numbers, const std::string& where) {
  if (numbers.size() != numbers_of_place && numbers.size() != numbers_of_pose) {
    throw InputError(where, fmt::format("{} numbers", numbers.size()),
                     "3, the probe's origin in m, or 9: its directions of x and of y besides");
  }
  Pose pose;
  pose.origin = {Metres(numbers[0]), Metres(numbers[1]), Metres(numbers[2])};
  if (numbers.size() == numbers_of_place) return pose;
  const Direction x{numbers[3], numbers[4], numbers[5]};
  const Direction y{numbers[6], numbers[7], numbers[8]};
  if (!(length(x) > 0.0)) throw InputError(where, "a direction of x without length", "a direction");
  pose.x = unit(x);
  const Direction rest = across(y, pose.x);
  if (!(length(rest) > 1e-6 * length(y))) throw InputError(where, "directions of x and y that are parallel", "two directions");
  pose.y = unit(rest);
  return pose;
}

/// A single position at which the probe's coordinates are those of the part counts as no position.
std::vector<Pose> unless_still(std::vector<Pose> poses) {
  if (poses == std::vector<Pose>(1)) poses.clear();
  return poses;
}

}  // namespace

std::vector<Pose> stated_positions(const ImagingSettings& settings) {
  const AcquisitionSection& section = settings.acquisition;
  const auto place = [&](std::string_view key) { return settings.place(fmt::format("[acquisition] {}", key)); };
  if (section.positions && section.position_count) {
    throw InputError(place("position_count"), "a line of positions beside a list", "position_count or positions");
  }
  std::vector<Pose> poses;
  if (section.positions) {
    for (std::size_t k = 0; k < section.positions->size(); ++k) {
      poses.push_back(pose_of((*section.positions)[k], place(fmt::format("positions, position {}", k))));
    }
    if (poses.empty()) throw InputError(place("positions"), "none", "at least one, or no such key");
  }
  if (!section.position_count) {
    if (section.position_step) throw InputError(place("position_count"), "no value beside position_step", "how many positions");
    return unless_still(std::move(poses));
  }
  if (!section.position_step && *section.position_count > 1) {
    throw InputError(place("position_step"), fmt::format("no value for {} positions", *section.position_count),
                     "the way from one to the next, in m");
  }
  const auto& [x, y, z] = section.position_direction;
  const Direction direction{x, y, z};
  if (!(length(direction) > 0.0)) throw InputError(place("position_direction"), "no length", "a direction");
  return unless_still(line_of_poses(*section.position_count, section.position_step.value_or(Metres(0.0)), unit(direction)));
}

}  // namespace echoform
