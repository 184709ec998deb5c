#include "methods/imaging_task.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "acquisition/recorded_frames.hpp"
#include "acquisition/sample_encodings.hpp"
#include "base/errors.hpp"
#include "methods/overrides.hpp"
#include "methods/scan_settings.hpp"

namespace echoform {
namespace {

void adopt_wedge_velocity(ImagingTask& task, MetresPerSecond stated) {
  if (task.couplant.velocity || !(stated.value > 0.0)) return;
  // The bound is the key's own: a slower value was written in another unit.
  if (stated.value < 10.0) {
    throw InputError(task.place("[couplant] velocity"),
                     fmt::format("no value, and {:g} m/s for the recording's wedge", stated.value),
                     "a velocity of at least 10 m/s");
  }
  task.couplant.velocity = stated;
  task.notes.push_back(fmt::format("{}: {:g} m/s of the recording's wedge", task.place("[couplant] velocity"), stated.value));
}

GridSection section_of(const Grid& grid) {
  const auto ends = [](const Axis& axis) { return std::array<Metres, 2>{axis.first, axis.last}; };
  GridSection section;
  section.x = ends(grid.x);
  section.y = ends(grid.y);
  section.z = ends(grid.z);
  section.pixels = {grid.x.count, grid.y.count, grid.z.count};
  return section;
}

}  // namespace

TaskRules usual_rules(ImagingUse use) {
  TaskRules rules;
  if (use == ImagingUse::recording) rules.limits.frame_bytes = most_recorded_bytes;
  return rules;
}

ImagingTask make_imaging_task(const ImagingSettings& settings, const Acquisition& acquisition, const StatedByData& stated,
                              const TaskRules& rules) {
  ImagingTask task(settings);
  task.acquired = acquisition;
  task.velocities = stated.material;
  if (rules.takes_wedge) adopt_wedge_velocity(task, stated.wedge_velocity);
  apply_overrides(task, task.acquired, task.velocities, task.notes);
  if (const auto& scale = task.acquisition.sample_scale; scale && *scale != stated_scale(task.acquired)) {
    task.notes.push_back(fmt::format("{}: [acquisition] sample_scale = {:g} replaces {:g} of the data", task.name(), *scale,
                                     stated_scale(task.acquired)));
  }
  task.limits = rules.limits;
  if (!scans(settings)) validate(task.acquired, task.limits, task.name());
  return task;
}

ImagingTask task_at(const ImagingTask& of_scan, const RigidMotion& motion, const Grid& part, const Grid& whole_grid) {
  ImagingTask task = of_scan;
  task.acquired.probe = moved(std::move(task.acquired.probe), motion);
  task.grid = section_of(part);
  task.whole_grid = whole_grid;
  task.groups = GroupWish::never;
  task.planes.reset();
  validate(task.acquired, task.limits, task.name());
  return task;
}

Axis part_of(const Axis& axis, const RowRange& planes) {
  return {axis.at(planes.first), axis.at(planes.first + planes.count - 1), planes.count};
}

double stated_scale(const Acquisition& acquisition) {
  return facts_of(acquisition.encoding).counts() ? acquisition.sample_scale : 1.0;
}

}  // namespace echoform
