#include "methods/tfm/build_plan.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "acquisition/frame_layout.hpp"
#include "acquisition/pair_rows.hpp"
#include "acquisition/words.hpp"
#include "base/errors.hpp"
#include "config/memory_text.hpp"
#include "cpu/thread_team.hpp"
#include "delay_laws/view.hpp"
#include "methods/tfm/gate.hpp"
#include "methods/tfm/outlines.hpp"
#include "methods/tfm/plan_warnings.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/analytic_signal/row_transform.hpp"

namespace echoform {
namespace {

std::string place(const Configuration& configuration, std::string_view key) {
  return fmt::format("{}: {}", configuration.name(), key);
}

/// Velocity of the first or the last leg of one side of a view, for the default depth.
double velocity_of(char mode, const Material& material) {
  return mode == 'T' ? material.shear_velocity.value : material.longitudinal_velocity.value;
}

Grid resolve_grid(const Configuration& configuration, const Acquisition& acquisition, const Material& material) {
  const GridSection& section = configuration.grid;
  Grid grid;
  grid.y = {section.y, section.y, 1};
  grid.x.count = section.pixels[0];
  grid.z.count = section.pixels[1];

  double depth_first = 0.0;
  double depth_last = 0.0;
  if (!section.x || !section.z) {
    const std::string& view = configuration.imaging.views.front();
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
    check_depth_is_told(configuration);
    if (!(depth_last > depth_first)) {
      throw InputError(place(configuration, "[grid] z"),
                       fmt::format("no depth, and a gate that ends at {:.3f} mm", 1e3 * depth_last),
                       "z = [first, last] in m, or a gate and a velocity that give one");
    }
    grid.z.first = Metres(depth_first);
    grid.z.last = Metres(depth_last);
    if (grid.z.count == 1) grid.z.first = grid.z.last = Metres(0.5 * (depth_first + depth_last));
  }
  if (section.x) {
    grid.x.first = (*section.x)[0];
    grid.x.last = (*section.x)[1];
  } else {
    const auto& elements = acquisition.probe.elements;
    const auto [first, last] = std::minmax_element(elements.begin(), elements.end(),
                                                   [](const Element& a, const Element& b) { return a.centre.x < b.centre.x; });
    grid.x.first = first->centre.x;
    grid.x.last = last->centre.x;
    if (grid.x.count == 1) grid.x.first = grid.x.last = 0.5 * (grid.x.first + grid.x.last);
    if (grid.x.count > 1 && !(grid.x.first < grid.x.last)) {
      const Metres half = 0.25 * grid.z.last;
      grid.x.last = grid.x.first + half;
      grid.x.first = grid.x.first - half;
    }
  }
  return grid;
}

std::optional<Grid> resolve_display_grid(const DisplaySection& display, const Grid& grid) {
  if (!display.x && !display.z && !display.pixels) return std::nullopt;
  Grid shown = grid;
  if (display.x) shown.x = {(*display.x)[0], (*display.x)[1], grid.x.count};
  if (display.z) shown.z = {(*display.z)[0], (*display.z)[1], grid.z.count};
  if (display.pixels) {
    shown.x.count = (*display.pixels)[0];
    shown.z.count = (*display.pixels)[1];
  }
  if (shown == grid) return std::nullopt;
  return shown;
}

void check_memory(const Configuration& configuration, const ImagingPlan& plan, std::size_t frames_in_flight) {
  const double needed = memory_needed(plan, frames_in_flight, imaged_by(configuration.imaging));
  const double limit = configuration.imaging.memory_limit.value_or(default_memory_limit());
  if (needed <= limit) return;
  throw InputError(
      place(configuration, "[grid] pixels"),
      fmt::format("{} x {} pixels with {} elements and {} view{}, which need {}", plan.grid.x.count, plan.grid.z.count,
                  plan.acquisition.elements(), plan.laws.size(), plan.laws.size() == 1 ? "" : "s", memory_text(needed)),
      fmt::format("a plan that fits into {} ([imaging] memory_limit)", memory_text(limit)));
}

}  // namespace

void apply_overrides(const Configuration& configuration, Acquisition& acquisition, Material& material,
                     std::vector<std::string>& notes) {
  const auto note = [&](std::string_view key, const std::string& value, const std::string& before) {
    notes.push_back(fmt::format("{}: {} = {} {}", configuration.name(), key, value,
                                before.empty() ? "where the data states none" : fmt::format("replaces {}", before)));
  };
  const auto replace = [&](std::string_view key, const auto& wish, auto& member, double scale, std::string_view unit) {
    if (!wish || *wish == member) return;
    const bool unknown = member.value == 0.0;
    note(key, fmt::format("{:g} {}", wish->value * scale, unit),
         unknown ? std::string() : fmt::format("{:g} {} of the data", member.value * scale, unit));
    member = *wish;
  };
  replace("[material] longitudinal_velocity", configuration.material.longitudinal_velocity, material.longitudinal_velocity, 1.0,
          "m/s");
  replace("[material] shear_velocity", configuration.material.shear_velocity, material.shear_velocity, 1.0, "m/s");

  Probe& probe = acquisition.probe;
  const ProbeSection& section = configuration.probe;
  replace("[probe] centre_frequency", section.centre_frequency, probe.centre_frequency, 1e-6, "MHz");
  replace("[probe] bandwidth", section.bandwidth, probe.bandwidth, 1e-6, "MHz");
  if (section.pitch) {
    const std::size_t count = probe.elements.size();
    const Probe linear = make_linear_probe(count, *section.pitch, Metres(0.0), Hertz(0.0), Hertz(0.0));
    for (std::size_t i = 0; i < count; ++i) {
      probe.elements[i].centre = linear.elements[i].centre;
      probe.elements[i].normal = Direction{};
    }
    note("[probe] pitch", fmt::format("{:g} mm", 1e3 * section.pitch->value), "the element positions of the data");
  }
  place_probe(section, probe, [&](std::string_view key, const std::string& value, const std::string& does) {
    notes.push_back(fmt::format("{}: [probe] {} = {} {}", configuration.name(), key, value, does));
  });
  if (section.element_width) {
    for (Element& element : probe.elements) element.width = *section.element_width;
    note("[probe] element_width", fmt::format("{:g} mm", 1e3 * section.element_width->value), "the widths of the data");
  }
  if (section.element_length) {
    for (Element& element : probe.elements) element.length = *section.element_length;
    note("[probe] element_length", fmt::format("{:g} mm", 1e3 * section.element_length->value), "the lengths of the data");
  }
  if (section.dead_elements) {
    for (Element& element : probe.elements) element.dead = false;
    for (const std::size_t index : *section.dead_elements) {
      if (index >= probe.elements.size()) {
        throw InputError(place(configuration, "[probe] dead_elements"), fmt::format("element {}", index),
                         fmt::format("0 to {}, as the data has {} elements", probe.elements.size() - 1, probe.elements.size()));
      }
      probe.elements[index].dead = true;
    }
    note("[probe] dead_elements", fmt::format("[{}]", fmt::join(*section.dead_elements, ", ")), "the dead elements of the data");
  }

  const AcquisitionSection& sampling = configuration.acquisition;
  replace("[acquisition] sample_rate", sampling.sample_rate, acquisition.sample_rate, 1e-6, "MHz");
  replace("[acquisition] start_time", sampling.start_time, acquisition.start_time, 1e6, "us");
  replace("[acquisition] time_offset", sampling.time_offset, acquisition.time_offset, 1e6, "us");
  if (sampling.matrix) {
    const std::string_view word = words::matrix_kind.of(*sampling.matrix);
    Acquisition stated = acquisition;
    stated.matrix = *sampling.matrix;
    if (FrameLayout(stated) != FrameLayout(acquisition)) {
      throw InputError(place(configuration, "[acquisition] matrix"),
                       fmt::format("\"{}\" for data that is a {}", word,
                                   acquisition.events.empty() ? pairs_text(acquisition) : "list of transmit events"),
                       "no such key, or half-matrix data");
    }
    if (stated != acquisition) {
      note("[acquisition] matrix", std::string(word), fmt::format("{} of the data", pairs_word(acquisition)));
    }
    acquisition.matrix = stated.matrix;
  }
}

std::vector<DelayLaw> make_laws(const Configuration& configuration, const Acquisition& acquisition, const Material& material,
                                const Scene& scene) {
  std::vector<DelayLaw> laws;
  const auto legs = std::make_shared<LegCache>();
  const auto& views = configuration.imaging.views;
  for (const std::string& view : views) {
    // "L-L" is "LL" spelled out.
    const auto same = [&view](const std::string& other) { return canonical_view_name(other) == canonical_view_name(view); };
    if (std::count_if(views.begin(), views.end(), same) > 1) {
      throw InputError(place(configuration, "[imaging] views"), fmt::format("\"{}\" twice", view), "each view once");
    }
    try {
      laws.push_back(make_delay_law(configuration.imaging.delay_law, {acquisition, material, view, scene, legs}));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", configuration.name(), error.what()));
    }
  }
  return laws;
}

std::shared_ptr<const ImagingPlan> build_plan(const Configuration& configuration, const Acquisition& acquisition,
                                              const Material& stated, std::size_t frames_in_flight, PlanUse use) {
  auto plan = std::make_shared<ImagingPlan>();
  plan->acquisition = acquisition;
  plan->material = stated;
  std::vector<std::string> notes;
  apply_overrides(configuration, plan->acquisition, plan->material, notes);
  plan->sample_scale = configuration.acquisition.sample_scale;
  if (const auto& scale = plan->sample_scale; scale && *scale != stated_scale(plan->acquisition)) {
    notes.push_back(fmt::format("{}: [acquisition] sample_scale = {:g} replaces {:g} of the data", configuration.name(), *scale,
                                stated_scale(plan->acquisition)));
  }
  validate(plan->acquisition, AcquisitionLimits{}, configuration.name());

  // Laws first: their message about a missing velocity says more than the grid's.
  const Scene scene = make_scene(configuration, plan->acquisition.probe);
  plan->laws = make_laws(configuration, plan->acquisition, plan->material, scene);
  plan->grid = resolve_grid(configuration, plan->acquisition, plan->material);
  plan->display_grid = resolve_display_grid(configuration.display, plan->grid);
  plan->interpolation = configuration.imaging.interpolation;
  plan->accuracy = configuration.imaging.accuracy;
  plan->apodization = configuration.apodization;
  plan->compression = configuration.output;
  plan->scan_interpolation = configuration.display.interpolation;
  plan->cubic_alpha = configuration.display.cubic_alpha;
  validate(*plan, configuration.name());
  check_geometry(configuration, *plan, scene);
  // Before anything walks over the pixels: tables of travel times are counted too.
  check_memory(configuration, *plan, frames_in_flight);
  tabulate_legs(configuration, *plan);
  check_reach(configuration, *plan, scene);
  plan->outlines = make_outlines(*plan, scene);
  const CropWish crop = configuration.imaging.crop;
  if (crop == CropWish::always || (crop == CropWish::live && use != PlanUse::recording)) {
    plan->gate = choose_gate(*plan, configuration.imaging.guard);
    if (plan->gate) {
      notes.push_back(fmt::format("{}: samples {} to {} of {} are imaged ([imaging] crop)", configuration.name(),
                                  plan->gate->first, plan->gate->first + plan->gate->count - 1, plan->acquisition.samples));
    }
  }
  check_memory(configuration, *plan, frames_in_flight);
  for (const std::string& line : notes) spdlog::info("{}", line);
  for (const std::string& line : unheeded_geometry(configuration, *plan, scene)) spdlog::warn("{}", line);
  if (use != PlanUse::description) {
    for (const std::string& line : plan_warnings(*plan)) spdlog::warn("{}: {}", configuration.name(), line);
  }
  return plan;
}

ImagedBy imaged_by(const ImagingSection& imaging) {
  return {imaging.backend == BackendWish::cuda ? BackendKind::cuda : BackendKind::cpu, imaging.threads};
}

double memory_needed(const ImagingPlan& plan, std::size_t frames_in_flight, const ImagedBy& by) {
  const auto pixels = static_cast<double>(plan.grid.pixels());
  const auto shown = static_cast<double>(plan.display_grid ? plan.display_grid->pixels() : plan.grid.pixels());
  const auto views = static_cast<double>(plan.laws.size());
  const auto elements = static_cast<double>(plan.acquisition.elements());
  double tables = 0.0;
  // Tables hold whole patches of up to 4 x 4 pixels.
  const auto patched = [](const Axis& axis) { return static_cast<double>((axis.count + 3) / 4 * 4); };
  const double places = patched(plan.grid.x) * patched(plan.grid.z) * static_cast<double>(plan.grid.y.count);
  const bool every_element_fires = fires_every_element(plan.acquisition);
  for (const DelayLaw& law : plan.laws) {
    // One table serves both sides where nothing tells them apart. Per source and pixel an offset, and a share of its base.
    const double sides = law.reciprocal() && plan.apodization.symmetric() && every_element_fires ? 1.0 : 2.0;
    const double entry = plan.apodization.trivial() ? 5.0 : 9.0;
    tables += sides * entry * elements * places;
  }
  // Travel times of legs that keep them.
  std::set<const Leg*> legs;
  for (const DelayLaw& law : plan.laws) legs.insert({law.transmit.get(), law.receive.get()});
  double times = 0.0;
  for (const Leg* leg : legs) times += static_cast<double>(leg->table_bytes(plan.grid, plan.apodization.angular()));
  // Per view the complex image, its envelope (and that on the display grid) and the compressed image.
  const double images = views * (12.0 * pixels + 5.0 * shown);
  // Per engine the converted samples and their analytic signal; per slot the samples as they came.
  // Rows are padded by up to 80 samples, and there is one for every pair that is looked up, received or not.
  const std::size_t rows = std::max(plan.acquisition.a_scans(), combined_rows(plan.acquisition, reciprocal(plan)).rows);
  const double samples = static_cast<double>(rows) * static_cast<double>(plan.imaged_samples().count + 80);
  const double slot = static_cast<double>(plan.acquisition.frame_bytes()) + images;
  double engine = times;
  if (by.backend == BackendKind::cpu) {
    // A thread's transforms have a workspace of their own.
    const std::size_t threads = by.threads != 0 ? by.threads : usable_processors();
    engine += tables + 16.0 * samples + row_transform_bytes(plan.imaged_samples().count, threads);
  }
  return engine + slot * static_cast<double>(frames_in_flight);
}

double default_memory_limit() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  // "max" where the control group sets no limit: reading a number then fails and leaves the machine's.
  double group = 0.0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> group && group > 0.0) bytes = std::min(bytes, group);
  return 0.75 * bytes;
}

}  // namespace echoform
