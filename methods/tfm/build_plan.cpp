#include "methods/tfm/build_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "acquisition/firings.hpp"
#include "acquisition/positions.hpp"
#include "base/errors.hpp"
#include "base/planning.hpp"
#include "delay_laws/view.hpp"
#include "methods/display_settings.hpp"
#include "methods/echoes.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/tfm/adaptive_pixels.hpp"
#include "methods/tfm/event_choice.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/outlines.hpp"
#include "methods/tfm/pixel_flow.hpp"
#include "methods/tfm/plan_warnings.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/setup.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

/// Velocity of the first or the last leg of one side of a view, for the default depth.
double velocity_of(char mode, const Material& material) {
  return mode == 'T' ? material.shear_velocity.value : material.longitudinal_velocity.value;
}

/// Resolves an axis: as stated; else what the aperture covers; for an aperture without extent, half of the depth below it.
void resolve_across(Axis& axis, const std::optional<std::array<Metres, 2>>& stated, const Probe& probe, Metres Point::*along,
                    Metres depth) {
  if (stated) {
    axis.first = (*stated)[0];
    axis.last = (*stated)[1];
    return;
  }
  const auto [first, last] =
      std::minmax_element(probe.elements.begin(), probe.elements.end(),
                          [along](const Element& a, const Element& b) { return a.centre.*along < b.centre.*along; });
  axis.first = first->centre.*along;
  axis.last = last->centre.*along;
  if (axis.count == 1) axis.first = axis.last = 0.5 * (axis.first + axis.last);
  if (axis.count > 1 && !(axis.first < axis.last)) {
    const Metres half = 0.25 * depth;
    axis.last = axis.first + half;
    axis.first = axis.first - half;
  }
}

Grid resolve_grid(const ImagingSettings& settings, const Acquisition& acquisition, const Material& material) {
  const GridSection& section = settings.grid;
  Grid grid;
  grid.x.count = section.pixels.x;
  grid.y.count = section.pixels.y;
  grid.z.count = section.pixels.z;

  double depth_first = 0.0;
  double depth_last = 0.0;
  if (!section.x || !section.z) {
    const std::string& view = tfm(settings).views.front();
    const double transmit = velocity_of(view.front(), material);
    const double receive = velocity_of(view.back(), material);
    const double depth_per_time = transmit > 0.0 && receive > 0.0 ? 1.0 / (1.0 / transmit + 1.0 / receive) : 0.0;
    const double opens = (acquisition.start_time - acquisition.time_offset).value;
    const double closes = opens + static_cast<double>(acquisition.samples - 1) / acquisition.sample_rate.value;
    depth_last = closes * depth_per_time;
    const double one_pixel = grid.z.count > 1 ? depth_last / static_cast<double>(grid.z.count) : 0.0;
    depth_first = std::max(opens * depth_per_time, one_pixel);
  }
  if (section.z) {
    grid.z.first = (*section.z)[0];
    grid.z.last = (*section.z)[1];
  } else {
    check_depth_is_told(settings);
    if (!(depth_last > depth_first)) {
      throw InputError(settings.place("[grid] z"), fmt::format("no depth, and a gate that ends at {:.3f} mm", 1e3 * depth_last),
                       "z = [first, last] in m, or a gate and a velocity that give one");
    }
    grid.z.first = Metres(depth_first);
    grid.z.last = Metres(depth_last);
    if (grid.z.count == 1) grid.z.first = grid.z.last = Metres(0.5 * (depth_first + depth_last));
  }
  const Probe probe = probe_at_all_positions(acquisition);
  resolve_across(grid.x, section.x, probe, &Point::x, grid.z.last);
  // An image lies in the plane y = 0.
  const std::array<Metres, 2> plane{};
  resolve_across(grid.y, section.y || grid.y.count > 1 ? section.y : plane, probe, &Point::y, grid.z.last);
  return grid;
}

/// Calls body(); errors that it throws name the position.
template <class Body>
auto at_position(std::size_t position, const Body& body) {
  try {
    return body();
  } catch (const PlanningEnded&) {
    throw;
  } catch (const InputError& error) {
    throw InputError(fmt::format("position {} of the probe: {}", position, error.what()));
  }
}

/// What is imaged at each position, and the positions' plans. These begin with their own values: the acquisition there, the
/// chosen part of it, and the laws. complete() adds the rest.
struct FramePositions {
  std::vector<PositionPlan> positions;
  std::vector<std::shared_ptr<ImagingPlan>> plans;
};

FramePositions find_positions(const ImagingSettings& settings, const ImagingPlan& whole) {
  FramePositions found;
  if (coded(whole.acquisition)) {
    throw InputError("data: transmit events", "rows of a code at several positions of the probe",
                     "firings of single elements or waves there, or codes at one position");
  }
  for (std::size_t k = 0; k < whole.acquisition.positions.size(); ++k) {
    keep_planning();
    PositionPart part = part_at(whole.acquisition, k);
    auto plan = std::make_shared<ImagingPlan>();
    for (std::uint32_t event = 0; event < part.events.size() && !whole.events.empty(); ++event) {
      if (std::ranges::binary_search(whole.events, part.events[event])) plan->events.push_back(event);
    }
    if (!whole.events.empty() && plan->events.empty()) continue;
    if (plan->events.size() == part.events.size()) plan->events.clear();
    plan->acquisition = std::move(part.acquisition);
    plan->laws =
        at_position(k, [&] { return make_laws(settings, plan->acquisition, whole.material, whole.scene, plan->events); });
    plan->event_weights = event_weights(settings, plan->acquisition, whole.material, plan->events);
    found.plans.push_back(std::move(plan));
    found.positions.push_back({k, std::move(part.events), found.plans.back()});
  }
  return found;
}

/// Completes the positions' plans with everything that they share with the plan of the whole frame.
void complete(const FramePositions& positions, const ImagingPlan& whole) {
  for (const auto& plan : positions.plans) {
    ImagingPlan all = whole;
    all.positions.clear();
    all.acquisition = std::move(plan->acquisition);
    all.events = std::move(plan->events);
    all.laws = std::move(plan->laws);
    all.event_weights = std::move(plan->event_weights);
    *plan = std::move(all);
  }
}

bool crops(CropWish wish, ImagingUse use) {
  return wish == CropWish::always || (wish == CropWish::live && use != ImagingUse::recording);
}

}  // namespace

TaskRules tfm_rules(const ImagingSettings& settings, const Acquisition& stated, ImagingUse use) {
  require_echoes(stated);
  TaskRules rules = usual_rules(use);
  rules.takes_wedge = tfm(settings).delay_law == "immersion";
  return rules;
}

std::vector<DelayLaw> make_laws(const ImagingSettings& settings, const Acquisition& acquisition, const Material& material,
                                const Scene& scene, const std::vector<std::uint32_t>& chosen) {
  std::vector<DelayLaw> laws;
  const auto legs = std::make_shared<LegCache>();
  const auto& views = tfm(settings).views;
  for (const std::string& view : views) {
    // "L-L" is "LL" spelled out.
    const auto same = [&view](const std::string& other) { return canonical_view_name(other) == canonical_view_name(view); };
    if (std::count_if(views.begin(), views.end(), same) > 1) {
      throw InputError(settings.place("[imaging] views"), fmt::format("\"{}\" twice", view), "each view once");
    }
    try {
      laws.push_back(make_delay_law(tfm(settings).delay_law, {acquisition, material, view, scene, legs, chosen}));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", settings.name(), error.what()));
    }
  }
  return laws;
}

std::shared_ptr<const ImagingPlan> build_plan(const ImagingTask& task) {
  auto plan = std::make_shared<ImagingPlan>(task);
  plan->doppler = resolve_pixel_flow(task, *plan);
  plan->events = plan->doppler ? first_samples(*plan->doppler) : chosen_events(task, plan->acquisition);
  // Laws are checked first: their message about a missing velocity is more specific than the grid's.
  const TfmSection& section = tfm(task);
  const bool several = !plan->acquisition.positions.empty();
  plan->scene = make_scene(task, probe_at_all_positions(plan->acquisition));
  FramePositions positions;
  if (several) {
    positions = find_positions(task, *plan);
    plan->laws = positions.plans.front()->laws;
  } else {
    plan->laws = make_laws(task, plan->acquisition, plan->material, plan->scene, plan->events);
  }
  plan->grid = resolve_grid(task, plan->acquisition, plan->material);
  if (task.planes) plan->grid.z = part_of(plan->grid.z, *task.planes);
  if (plan->doppler) plan->doppler->autocorrelation.half_window = flow_half_window(task, *plan);
  plan->display_grid = shown_grid(plan->display, plan->grid, task.place("[display]"));
  warn_of_interpolation(plan->display, plan->display_grid, task.place("[display]"), plan->warnings);
  plan->interpolation = section.interpolation;
  plan->accuracy = section.accuracy;
  plan->apodization = section.apodization;
  plan->adaptive = resolve_adaptive_pixels(task, *plan);
  if (!several) {
    plan->event_weights = event_weights(task, plan->acquisition, plan->material, plan->events);
  }
  plan->filter = resolve_filter(task, plan->acquisition, plan->notes);
  complete(positions, *plan);
  plan->positions = positions.positions;
  validate(*plan, task.name());
  if (!several) {
    check_geometry(task, *plan, plan->scene);
    check_propagation(task, *plan);
  }
  for (const PositionPlan& position : plan->positions) {
    at_position(position.position, [&] {
      check_geometry(task, *position.plan, plan->scene);
      check_propagation(task, *position.plan, position.events);
    });
  }
  const auto require_memory = [&] {
    const std::string_view whole = coded(plan->acquisition)   ? "rows of a code are decoded from whole frames"
                                   : weighs_adaptively(*plan) ? "adaptive weights see all A-scans at once"
                                   : plan->doppler            ? "ensembles of flow are imaged of whole frames"
                                                              : "";
    plan->by_groups = task.groups != GroupWish::never && whole.empty();
    plan->by_groups = settle_groups(task, *make_imaging_setup(plan), whole);
  };
  // Memory is checked before anything loops over the pixels; the tables of travel times are counted too.
  require_memory();
  if (!several) tabulate_legs(task, *plan);
  for (const auto& position : positions.plans) tabulate_legs(task, *position);
  if (several) plan->laws = positions.plans.front()->laws;
  // A few planes of a volume may be out of reach of all rays, for example the upper ones in water, so they are not checked.
  if (!task.planes) check_reach(task, *plan, plan->scene);
  plan->outlines = make_outlines(*plan, plan->scene, task.whole_grid.value_or(plan->grid));
  const bool cropped = task.crop.value_or(crops(section.crop, task.use));
  if (!cropped && section.guard != TfmSection().guard) {
    plan->warnings.push_back(
        fmt::format("{} has no effect: whole A-scans are imaged ([imaging] crop)", task.place("[imaging] guard")));
  }
  const std::size_t muted = muted_samples(task, plan->acquisition, plan->notes);
  if (cropped) {
    plan->gate = choose_gate(*plan, section.guard + response_size(plan->filter).length, muted);
  } else if (muted > 0) {
    plan->gate = SampleGate{muted, plan->acquisition.samples - muted};
  }
  if (plan->gate) {
    for (const auto& position : positions.plans) position->gate = plan->gate;
    if (cropped) {
      plan->notes.push_back(fmt::format("{}: samples {} to {} of {} are imaged ([imaging] crop)", task.name(), plan->gate->first,
                                        plan->gate->first + plan->gate->count - 1, plan->acquisition.samples));
    }
    require_memory();
  }
  for (std::string& line : geometry_warnings(task, several ? *positions.plans.front() : *plan, plan->scene)) {
    plan->warnings.push_back(std::move(line));
  }
  for (std::string& line : filter_warnings(task, plan->filter, plan->acquisition)) {
    plan->warnings.push_back(std::move(line));
  }
  if (task.use != ImagingUse::description) {
    for (const std::string& line : plan_warnings(*plan)) {
      plan->warnings.push_back(fmt::format("{}: {}", task.name(), line));
    }
  }
  return plan;
}

std::shared_ptr<const ImagingPlan> build_plan(const ImagingSettings& settings, const Acquisition& acquisition,
                                              const Material& stated, std::size_t frames_in_flight, ImagingUse use) {
  ImagingTask task = make_imaging_task(settings, acquisition, {stated, {}}, tfm_rules(settings, acquisition, use));
  task.frames_in_flight = frames_in_flight;
  task.use = use;
  return build_plan(task);
}

}  // namespace echoform
