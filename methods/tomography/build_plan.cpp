#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "acquisition/facing.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/recorded_frames.hpp"
#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "methods/doubtful.hpp"
#include "methods/filter_settings.hpp"
#include "methods/host_memory.hpp"
#include "methods/tomography/keys.hpp"
#include "methods/tomography/plan.hpp"
#include "methods/tomography/raw_data.hpp"
#include "methods/wavelength_name.hpp"
#include "stages/back_projection_term/back_projection_term.hpp"
#include "stages/filter/filter_response.hpp"

namespace echoform {
namespace {

// The first sample and the number of samples of an upload are multiples of these.
constexpr std::size_t gate_begins_at = 8;
constexpr std::size_t gate_lasts = 16;
// Part of the lookups that may fall outside of the record without a warning.
constexpr double tolerated_beyond = 0.01;

double opening_time(const Acquisition& acquisition) {
  return (acquisition.start_time - acquisition.time_offset).value;
}

/// The time of the first sample that is not muted.
double first_time(const TomographyPlan& plan) {
  return opening_time(plan.acquisition) + static_cast<double>(plan.muted) / plan.acquisition.sample_rate.value;
}

void refuse_other_events(const ImagingSettings& settings, const Acquisition& acquisition) {
  if (!acquisition.events.empty() && all_passive(acquisition.events)) return;
  throw InputError(fmt::format("{}: [imaging] method = \"tomography\"", settings.name()),
                   acquisition.events.empty() ? pairs_text(acquisition) : forms_text(acquisition.events),
                   "frames of passive events, of pulses of light");
}

Metres wavelength_of(const TransmitEvent& event) {
  return std::get<PassiveEvent>(event.form).wavelength;
}

/// The wavelengths whose images are requested, in the order of [tomography] wavelengths, or ascending.
std::vector<WavelengthPlan> choose_wavelengths(const ImagingSettings& settings, const Acquisition& acquisition,
                                               const TomographySection& section) {
  // Wavelengths are distinguished by their names: a hundredth of a nanometre is rounding.
  std::map<std::string, Metres> there;
  for (const TransmitEvent& event : acquisition.events)
    there.emplace(name_of_wavelength(wavelength_of(event)), wavelength_of(event));
  std::string known;
  for (const auto& [name, wavelength] : there) known += (known.empty() ? "" : ", ") + name;
  std::vector<WavelengthPlan> plans;
  const auto add = [&](const std::string& name, Metres wavelength) {
    WavelengthPlan& plan = plans.emplace_back();
    plan.image = name;
    plan.wavelength = wavelength;
  };
  for (const Metres wanted : section.wavelengths) {
    const std::string name = name_of_wavelength(wanted);
    if (!there.contains(name)) {
      throw InputError(settings.place("[tomography] wavelengths"), name, fmt::format("those of the data: {}", known));
    }
    add(name, wanted);
  }
  if (!plans.empty()) return plans;
  if (there.size() > 1 && there.contains(name_of_wavelength(Metres(0.0)))) {
    throw InputError(fmt::format("{}: [imaging] method = \"tomography\"", settings.name()),
                     fmt::format("events without a wavelength beside others: {}", known),
                     "a wavelength of all events, or of none");
  }
  for (const auto& [name, wavelength] : there) {
    add(there.size() == 1 ? std::string(tomogram) : name, wavelength);
  }
  std::ranges::sort(plans, {}, &WavelengthPlan::wavelength);
  return plans;
}

/// Finds the detectors of each wavelength, including dead ones.
void find_detectors(TomographyPlan& plan) {
  const std::vector<Detector> detectors = detectors_of(plan.acquisition);
  const std::vector<EventReceiver> pairs = FrameLayout(plan.acquisition).pairs();
  for (WavelengthPlan& image : plan.wavelengths) {
    const std::string wanted = name_of_wavelength(image.wavelength);
    for (std::size_t row = 0; row < detectors.size(); ++row) {
      if (name_of_wavelength(wavelength_of(plan.acquisition.events[pairs[row].event])) != wanted) continue;
      image.detectors.push_back(detectors[row]);
      image.rows.push_back(row);
    }
    image.declared = image.detectors.size();
  }
}

/// Leaves out dead detectors. They still stand for their part of the surface: what they would have received counts as zeros.
void leave_out_dead(const ImagingSettings& settings, TomographyPlan& plan) {
  std::size_t first_row = 0;
  for (WavelengthPlan& image : plan.wavelengths) {
    std::size_t living = 0;
    double all_sizes = 0.0;
    double living_sizes = 0.0;
    for (std::size_t q = 0; q < image.detectors.size(); ++q) {
      all_sizes += image.shares.sizes[q];
      if (image.detectors[q].dead) continue;
      living_sizes += image.shares.sizes[q];
      image.detectors[living] = image.detectors[q];
      image.rows[living] = image.rows[q];
      image.shares.sizes[living] = image.shares.sizes[q];
      ++living;
    }
    if (living == 0) {
      throw InputError(fmt::format("{}: [imaging] method = \"tomography\"", settings.name()),
                       fmt::format("no detector of image {} that is not dead", image.image), "one at least");
    }
    image.detectors.resize(living);
    image.rows.resize(living);
    image.shares.sizes.resize(living);
    image.shares.angle *= living_sizes / all_sizes;
    image.first_row = first_row;
    first_row += living;
  }
}

Axis axis_of(const ImagingSettings& settings, std::string_view key, const std::optional<std::array<Metres, 2>>& stated,
             std::size_t count, Metres centre, Metres radius) {
  if (stated) return {(*stated)[0], (*stated)[1], count};
  if (count == 1) return {centre, centre, 1};
  if (!(radius.value > 0.0)) {
    throw InputError(settings.place(fmt::format("[grid] {}", key)), "none, with detectors that lie on no sphere or ring",
                     "first and last pixel centre in m");
  }
  // A cube of half the radius on either side of the middle lies within the sphere.
  return {centre - 0.5 * radius, centre + 0.5 * radius, count};
}

Grid resolve_tomogram_grid(const ImagingSettings& settings, const DetectorSurface& surface) {
  const GridSection& section = settings.grid;
  const bool round = surface.shape == SurfaceShape::sphere;
  const Point centre = round ? surface.centre : Point{};
  Grid grid;
  grid.x = axis_of(settings, "x", section.x, section.pixels.x, centre.x, surface.radius);
  grid.y = axis_of(settings, "y", section.y, section.pixels.y, centre.y, surface.radius);
  grid.z = axis_of(settings, "z", section.z, section.pixels.z, centre.z, surface.radius);
  validate(grid, settings.place("[grid]"));
  return grid;
}

/// For each row of the frame, the size of its detector from a file.
std::vector<double> read_sizes(const ImagingSettings& settings, const TomographyPlan& plan) {
  const std::string key = settings.place("[tomography] detector_sizes");
  const FrameLayout layout(plan.acquisition);
  const std::vector<EventReceiver> pairs = layout.pairs();
  const std::vector<double> stated = read_csv_samples(plan.section.detector_sizes, key, pairs.size());
  const std::size_t elements = plan.acquisition.probe.elements.size();
  if (stated.size() != elements && stated.size() != pairs.size()) {
    throw InputError(key, fmt::format("{} numbers", stated.size()),
                     fmt::format("one for each of {} elements, or of {} A-scans of a frame", elements, pairs.size()));
  }
  for (std::size_t k = 0; k < stated.size(); ++k) {
    if (stated[k] > 0.0) continue;
    throw InputError(key, fmt::format("{:g} as number {}", stated[k], k + 1), "numbers above 0");
  }
  std::vector<double> sizes;
  for (std::size_t row = 0; row < pairs.size(); ++row)
    sizes.push_back(stated[stated.size() == pairs.size() ? row : pairs[row].receiver]);
  return sizes;
}

void refuse_inner_detectors(const ImagingSettings& settings, const TomographyPlan& plan) {
  for (const WavelengthPlan& image : plan.wavelengths) {
    for (std::size_t q = 0; q < image.detectors.size(); ++q) {
      const Point& at = image.detectors[q].centre;
      if (!holds(plan.grid, at)) continue;
      throw InputError(settings.place("[grid]"),
                       fmt::format("detector {} at ({:.4g}, {:.4g}, {:.4g}) mm within the image", image.rows[q], 1e3 * at.x.value,
                                   1e3 * at.y.value, 1e3 * at.z.value),
                       "detectors around it");
    }
  }
}

/// The reach of the grid over the detectors of all wavelengths.
ReachOfGrid reach_of_all(const TomographyPlan& plan) {
  const double opens = opening_time(plan.acquisition);
  const double closes = opens + static_cast<double>(plan.acquisition.samples - 1) / plan.acquisition.sample_rate.value;
  std::vector<Detector> all;
  for (const WavelengthPlan& image : plan.wavelengths) {
    all.insert(all.end(), image.detectors.begin(), image.detectors.end());
  }
  return reach_of(plan.grid, all, plan.velocity, plan.object, first_time(plan), closes);
}

void judge_reach(const ImagingSettings& settings, TomographyPlan& plan) {
  std::size_t detectors = 0;
  for (const WavelengthPlan& image : plan.wavelengths) detectors += image.detectors.size();
  const ReachOfGrid& reach = plan.reach;
  const std::vector<Detector>& first = plan.wavelengths.front().detectors;
  if (reach.facing == 0 || reach.voxels_unheard == reach.voxels_tried) {
    // Places in another unit would explain both.
    if (const auto expected = doubtful_places(first)) {
      throw InputError(
          "data: places of detectors",
          fmt::format("{:.4g} m from the middle of all, and an image that none of them receives", spread_of(first).value),
          *expected);
    }
  }
  if (reach.facing == 0) {
    throw InputError(
        settings.place("[grid]"), "no detector that faces the image: they look " + facing_text(first),
        "detectors that look towards it ([probe] reverse_normals = true turns them round, [probe] normal = [x, y, z] "
        "says which way all of them look)");
  }
  if (reach.facing < detectors) {
    plan.warnings.push_back(fmt::format("{}: {} of {} A-scans are of detectors that look away from the image", settings.name(),
                                        detectors - reach.facing, detectors));
  }
  const double opens = first_time(plan);
  const double closes =
      opening_time(plan.acquisition) + static_cast<double>(plan.acquisition.samples - 1) / plan.acquisition.sample_rate.value;
  if (reach.voxels_unheard == reach.voxels_tried) {
    throw InputError(settings.place("[material] longitudinal_velocity"),
                     fmt::format("{:g} m/s, at which sound of the image arrives after {:.4g} to {:.4g} us", plan.velocity.value,
                                 1e6 * reach.earliest, 1e6 * reach.latest),
                     fmt::format("some of it within the A-scans, {:.4g} to {:.4g} us", 1e6 * opens, 1e6 * closes));
  }
  if (reach.voxels_unheard > 0) {
    plan.warnings.push_back(fmt::format(
        "{}: A-scans hold nothing of {:.3g} % of the image: they last from {:.4g} to {:.4g} us", settings.name(),
        100.0 * static_cast<double>(reach.voxels_unheard) / static_cast<double>(reach.voxels_tried), 1e6 * opens, 1e6 * closes));
  }
  if (reach.beyond > tolerated_beyond) {
    plan.warnings.push_back(fmt::format(
        "{}: {:.3g} % of what detectors receive of the image lies outside of the A-scans, and counts as 0: {:.4g} to {:.4g} us "
        "are wanted, {:.4g} to {:.4g} us are there",
        settings.name(), 100.0 * reach.beyond, 1e6 * reach.earliest, 1e6 * reach.latest, 1e6 * opens, 1e6 * closes));
  }
}

/// The samples needed, with guards for the stages before the lookups.
SampleGate choose_samples(const TomographyPlan& plan) {
  const Acquisition& acquisition = plan.acquisition;
  std::size_t guard = 2 + derivative_reach + response_size(plan.filter).length;
  if (plan.deconvolution) guard += deconvolution_length(*plan.deconvolution);
  const double rate = acquisition.sample_rate.value;
  const double opens = opening_time(acquisition);
  const auto samples = static_cast<double>(acquisition.samples);
  const double from = std::floor((plan.reach.earliest - opens) * rate) - static_cast<double>(guard);
  const double to = std::ceil((plan.reach.latest - opens) * rate) + static_cast<double>(guard);
  const std::size_t first =
      std::max(plan.muted, static_cast<std::size_t>(std::clamp(from, 0.0, samples - 2.0)) / gate_begins_at * gate_begins_at);
  const auto end = static_cast<std::size_t>(std::clamp(to + 1.0, static_cast<double>(first) + 2.0, samples));
  const std::size_t count = (end - first + gate_lasts - 1) / gate_lasts * gate_lasts;
  return {first, std::min(count, acquisition.samples - first)};
}

/// The unmixing of the wavelengths, with or without division by the pulse energies.
std::optional<UnmixingPlan> unmixing_of(const ImagingSettings& settings, const TomographyPlan& plan) {
  std::vector<Metres> wavelengths;
  for (const WavelengthPlan& image : plan.wavelengths) wavelengths.push_back(image.wavelength);
  std::vector<UnmixedLight> lights = lights_of(plan.acquisition, wavelengths);
  if (plan.section.pulse_energy == PulseEnergyUse::divided) {
    for (UnmixedLight& light : lights) light.energy = 1.0;
  }
  return resolve_unmixing(settings, lights);
}

/// Outline of the detectors' places, seen along y.
Outline detector_outline(const TomographyPlan& plan) {
  Outline outline{.name = "detectors", .x = {}, .z = {}};
  const auto add = [&](double x, double z) {
    outline.x.push_back(static_cast<float>(x));
    outline.z.push_back(static_cast<float>(z));
  };
  const DetectorSurface& surface = plan.surface;
  if (surface.shape == SurfaceShape::sphere && !surface.flat) {
    constexpr std::size_t points = 129;
    for (std::size_t k = 0; k < points; ++k) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points - 1);
      add(surface.centre.x.value + surface.radius.value * std::cos(angle),
          surface.centre.z.value + surface.radius.value * std::sin(angle));
    }
    return outline;
  }
  const std::vector<Detector>& detectors = plan.wavelengths.front().detectors;
  const std::size_t count = std::min(detectors.size(), most_outline_points);
  for (std::size_t k = 0; k < count; ++k) {
    const Point& at = detectors[count < 2 ? 0 : k * (detectors.size() - 1) / (count - 1)].centre;
    add(at.x.value, at.z.value);
  }
  return outline;
}

}  // namespace

TaskRules tomography_rules(const ImagingSettings& settings, ImagingUse use) {
  check_tomography(settings);
  TaskRules rules = usual_rules(use);
  if (use == ImagingUse::recording) rules.limits.elements = most_recorded_detectors;
  return rules;
}

std::shared_ptr<const TomographyPlan> build_tomography_plan(const ImagingTask& task) {
  auto plan = std::make_shared<TomographyPlan>(task);
  refuse_other_events(task, plan->acquisition);
  plan->velocity = plan->material.longitudinal_velocity;
  if (!(plan->velocity.value > 0.0)) {
    throw InputError(task.place("[material] longitudinal_velocity"), "none", "the speed of sound in m/s");
  }
  plan->section = tomography(task);
  const TomographySection& section = plan->section;
  if (section.object_velocity) {
    const std::vector<Metres>& radii = section.object_radii;
    plan->object = SoundInclusion{{section.object_centre[0], section.object_centre[1], section.object_centre[2]},
                                  {radii.front(), radii[radii.size() > 1 ? 1 : 0], radii.back()},
                                  *section.object_velocity};
  }
  plan->wavelengths = choose_wavelengths(task, plan->acquisition, section);
  plan->shows_mean = plan->wavelengths.size() > 1 && section.wavelengths.empty();
  plan->unmixing = unmixing_of(task, *plan);
  find_detectors(*plan);
  plan->surface = surface_of(plan->wavelengths.front().detectors);
  if (section.algorithm == TomographyAlgorithm::fbp && plan->surface.shape != SurfaceShape::sphere) {
    throw InputError(task.place("[tomography] algorithm"), fmt::format("\"fbp\" for detectors on {}", plan->surface.text()),
                     "detectors on a sphere or a ring, or \"ubp\"");
  }
  plan->grid = resolve_tomogram_grid(task, plan->surface);
  plan->display_grid = shown_grid(plan->display, plan->grid, task.place("[display]"));
  warn_of_interpolation(plan->display, plan->display_grid, task.place("[display]"), plan->warnings);
  const Point middle{0.5 * (plan->grid.x.first + plan->grid.x.last), 0.5 * (plan->grid.y.first + plan->grid.y.last),
                     0.5 * (plan->grid.z.first + plan->grid.z.last)};
  const std::vector<double> stated_sizes = section.detector_sizes.empty() ? std::vector<double>() : read_sizes(task, *plan);
  for (WavelengthPlan& image : plan->wavelengths) {
    if (stated_sizes.empty()) {
      image.shares = shares_of(image.detectors, plan->surface, section.solid_angle, middle);
      continue;
    }
    std::vector<double> sizes;
    for (const std::size_t row : image.rows) sizes.push_back(stated_sizes[row]);
    image.shares = stated_shares(std::move(sizes), plan->surface, section.solid_angle);
  }
  plan->event_gains = gains_of_events(task, plan->acquisition);
  leave_out_dead(task, *plan);
  refuse_inner_detectors(task, *plan);
  plan->muted = muted_samples(task, plan->acquisition, plan->notes);
  plan->reach = reach_of_all(*plan);
  judge_reach(task, *plan);
  plan->filter = resolve_filter(task, plan->acquisition, plan->notes);
  if (task.probe.bandwidth && !(plan->acquisition.probe.centre_frequency.value > 0.0)) {
    plan->warnings.push_back(fmt::format("{} has no effect: neither settings nor data state the centre frequency of the band",
                                         task.place("[probe] bandwidth")));
  }
  plan->deconvolution = stated_detector_response(task, plan->acquisition.sample_rate);
  if (plan->deconvolution) refuse_coarse_response(task, *plan->deconvolution);
  plan->gate = {plan->muted, plan->acquisition.samples - plan->muted};
  if (task.crop.value_or(task.use != ImagingUse::recording)) {
    plan->gate = choose_samples(*plan);
    if (plan->gate.count < plan->acquisition.samples - plan->muted) {
      plan->notes.push_back(fmt::format("{}: samples {} to {} of {} are imaged", task.name(), plan->gate.first,
                                        plan->gate.first + plan->gate.count - 1, plan->acquisition.samples));
    }
  }
  for (std::string& line : filter_warnings(task, plan->filter, plan->acquisition)) {
    plan->warnings.push_back(std::move(line));
  }
  plan->outlines.push_back(detector_outline(*plan));
  // The planes are chosen last, so that the report describes the whole image.
  if (task.planes) plan->grid.z = part_of(plan->grid.z, *task.planes);
  require_host_memory(task, *make_tomography_setup(plan), task.frames_in_flight, task.besides);
  return plan;
}

}  // namespace echoform
