#include "methods/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "acquisition/ranges.hpp"
#include "base/errors.hpp"
#include "base/planning.hpp"
#include "config/key_types.hpp"
#include "methods/doubtful.hpp"
#include "methods/overrides.hpp"
#include "methods/scan_settings.hpp"
#include "methods/scan_setup.hpp"
#include "methods/scan_turns.hpp"
#include "methods/unread_keys.hpp"
#include "simulators/detector_array.hpp"
#include "simulators/sound_section.hpp"

// The built-in methods: METHOD(NAME) is `std::unique_ptr<const Method> NAME_method()` of methods/NAME/.
#define ECHOFORM_METHODS(METHOD) METHOD(tfm) METHOD(beams) METHOD(tomography)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) std::unique_ptr<const Method> NAME##_method();
ECHOFORM_METHODS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

namespace {

std::vector<std::unique_ptr<const Method>>& registry() {
  static std::vector<std::unique_ptr<const Method>> list = [] {
    std::vector<std::unique_ptr<const Method>> of_the_tree;
#define ECHOFORM_MAKE(NAME) of_the_tree.push_back(NAME##_method());
    ECHOFORM_METHODS(ECHOFORM_MAKE)
#undef ECHOFORM_MAKE
    return of_the_tree;
  }();
  return list;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& method : registry()) all.emplace_back(method->name());
  return all;
}

[[noreturn]] void refuse_cuda(const ImagingSettings& settings, std::string_view reason) {
  throw InputError(settings.place("[imaging] backend"), "\"cuda\"",
                   fmt::format("\"cpu\" or \"auto\" when the program starts: {}", reason));
}

/// Checks that the backend has every stage, and that the images are those which the method states.
void check_setup(const Method& method, const ImagingSettings& settings, const ImagingSetup& setup) {
#ifdef ECHOFORM_WITH_CUDA  // otherwise no stage has a CUDA version; why there is no GPU was reported when the backend was chosen
  for (const Step& step : setup.recipe.steps) {
    if (settings.imaging.backend == BackendWish::cuda && step.stage->cuda == nullptr) {
      refuse_cuda(settings, fmt::format("the stage {} is for the CPU alone", step.stage->name));
    }
  }
#endif
  const std::vector<std::string> images = method.images(settings);
  if (images.empty()) throw std::logic_error(fmt::format("method {}: found no name of an image", method.name()));
  for (const std::string& image : images) {
    if (!setup.recipe.find(image, OutputKind::envelope)) {
      throw std::logic_error(fmt::format("method {}: found no envelope of the image {} among its outputs", method.name(), image));
    }
  }
}

}  // namespace

const std::vector<std::unique_ptr<const Method>>& methods() {
  return registry();
}

const Method* find_method(std::string_view name) {
  const auto& all = registry();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& method) { return method->name() == name; });
  return found == all.end() ? nullptr : found->get();
}

void add_method(std::unique_ptr<const Method> method) {
  const std::string_view name = method->name();
  const bool word = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos;
  if (!word || find_method(name) != nullptr) {
    throw InputError("add_method", fmt::format("the name \"{}\"", method->name()),
                     "lower-case letters, digits, - and _, and a name that no other method has");
  }
  registry().push_back(std::move(method));
}

const Method& method_of(const ImagingSettings& settings) {
  if (const Method* const method = find_method(settings.imaging.method)) return *method;
  throw InputError(settings.place("[imaging] method"), fmt::format("\"{}\"", settings.imaging.method),
                   fmt::format("one of {}", fmt::join(names(), ", ")));
}

ImagingTask task_of(const Method& method, const ImagingRequest& request) {
  const TaskRules rules = method.rules(request.configuration, request.acquisition, request.use);
  ImagingTask task = make_imaging_task(request.configuration, request.acquisition, request.stated, rules);
  task.planes = request.planes;
  task.crop = request.crop;
  task.use = request.use;
  task.wish = request.wish;
  task.groups = request.groups;
  task.frames_in_flight = request.frames_in_flight;
  task.besides = request.besides;
  task.settings_revision = request.settings_revision;
  return task;
}

std::string why_not_on_gpu(const Method& method) {
  for (const StageKind* const stage : method.own_stages()) {
    if (stage->cuda == nullptr)
      return fmt::format("the stage {} of the method {} is for the CPU alone", stage->name, method.name());
  }
  return {};
}

std::string why_not_on_gpu(const ImagingSettings& settings) {
  const Method& method = method_of(settings);
  std::string reason = why_not_on_gpu(method);
  if (!reason.empty()) return reason;
  reason = method.for_the_cpu_alone(settings);
  return reason.empty() ? reason : fmt::format("{} is for the CPU alone", reason);
}

void require_backend(const ImagingSettings& settings) {
  if (settings.imaging.backend != BackendWish::cuda) return;
  const std::string reason = why_not_on_gpu(settings);
  if (!reason.empty()) refuse_cuda(settings, reason);
}

namespace {

std::shared_ptr<ImagingSetup> resolve_by_method(const ImagingRequest& request) {
  const ImagingSettings& settings = request.configuration;
  const Method& method = method_of(settings);
  require_backend(settings);
  validate(request.stated.material, "data:");
  validate(Material{request.stated.wedge_velocity, {}}, "data: wedge,");
  std::optional<ImagingTask> task;  // a scan makes tasks of its own
  if (!scans(settings)) task = task_of(method, request);
  const UnreadKeys unread = find_unread_keys(request.configuration, method);
  auto setup = task ? std::make_shared<ImagingSetup>(*method.resolve(*task)) : resolve_scan(method, request);
  check_setup(method, settings, *setup);
  setup->notes.insert(setup->notes.end(), unread.notes.begin(), unread.notes.end());
  tell_unread_keys(request.configuration, unread, *setup);
  return setup;
}

}  // namespace

std::shared_ptr<const ImagingSetup> resolve_imaging(const ImagingRequest& request) {
  const Configuration& configuration = request.configuration;
  std::shared_ptr<ImagingSetup> setup;
  try {
    setup = resolve_by_method(request);
  } catch (const PlanningEnded&) {
    throw;
  } catch (const InputError&) {
    // A doubtful value may show what was meant, so the doubts are reported first.
    const std::function<void(const std::string&)> say =
        request.refused ? request.refused : [](const std::string& line) { spdlog::warn("{}", line); };
    for (const auto& doubts :
         {doubtful_settings(configuration), doubts_about_data(configuration, request.acquisition, request.stated)}) {
      for (const std::string& line : doubts) say(line);
    }
    throw;
  }
  for (auto doubts : {doubtful_settings(configuration),
                      doubtful_data(configuration, setup->acquisition, setup->material, request.stated.wedge_velocity)}) {
    setup->warnings.insert(setup->warnings.end(), doubts.begin(), doubts.end());
  }
  return setup;
}

std::shared_ptr<const ImagingSetup> retune_imaging(const ImagingSetup& before, const ImagingSettings& wanted,
                                                   std::uint64_t settings_revision) {
  const Method& method = method_of(wanted);
  return before.scan ? retuned_scan(method, before, wanted, settings_revision)
                     : method.retuned(before, wanted, settings_revision);
}

void log_doubts(const Configuration& configuration) {
  for (const std::string& line : doubtful_settings(configuration)) spdlog::warn("{}", line);
}

std::vector<std::string> doubts_about_data(const ImagingSettings& settings, Acquisition acquisition, const StatedByData& stated) {
  Material material = stated.material;
  std::vector<std::string> notes;
  try {
    apply_overrides(settings, acquisition, material, notes);
  } catch (const InputError&) {  // NOLINT(bugprone-empty-catch)
    // The user of the data refuses it; what the data state can be doubted all the same.
  }
  return doubtful_data(settings, acquisition, material, stated.wedge_velocity);
}

void log_doubts_about_data(const ImagingSettings& settings, const Acquisition& acquisition, const StatedByData& stated) {
  for (const std::string& line : doubts_about_data(settings, acquisition, stated)) spdlog::warn("{}", line);
}

namespace {

/// Moves the source's probe along the path. Where the path leads around the part, the part is rotated back as in the images of
/// positions.
void move_along_path(const ImagingSettings& settings, SimulatorConfiguration& source) {
  check_scan(settings);
  const Probe placed = placed_probe(source);
  const auto motion_at = [settings, placed, encoder = encoder_scale(settings)](EncoderCount count) {
    return scan_motion(settings, placed, encoder.position(count));
  };
  if (!source_turns(settings, source)) {
    source.motion = motion_at;
    return;
  }
  source.motion = [motion_at](EncoderCount count) {
    const RigidMotion motion = motion_at(count);
    return turned_back(motion, quarters_of(motion.angle));
  };
  // In that orientation of the part, places that the probe does not face may lie outside of the stated surfaces.
  source.part = [motion_at, whole = source](EncoderCount count) {
    const RigidMotion motion = motion_at(count);
    SimulatorConfiguration seen = whole;
    seen.phantom = turned_back(whole.phantom, motion, quarters_of(motion.angle));
    keep_inside(seen.phantom, seen);
    return seen.phantom;
  };
}

/// Refuses sections of photoacoustic sound for a method whose source transmits.
void refuse_sound(const ImagingSettings& settings) {
  const SoundSources& sources = section<SoundSection>(settings).sources;
  const auto refuse = [&](std::string_view key) {
    throw InputError(settings.place(key), fmt::format("a value with the method {}", settings.imaging.method),
                     "a method of optoacoustics, or no such key");
  };
  if (!sources.balls.empty()) refuse("[simulator] balls");
  if (!sources.vessels.empty()) refuse("[simulator] blood_vessels");
  if (section<DetectorArray>(settings).stated()) refuse("[detectors] kind");
}

}  // namespace

SimulatorConfiguration simulated_source(const Configuration& configuration) {
  try {
    SimulatorConfiguration source = method_of(configuration).simulated_source(configuration);
    if (!source.sound) refuse_sound(configuration);
    if (scans(configuration) && source.encoder.step != 0) move_along_path(configuration, source);
    return source;
  } catch (const InputError&) {
    log_doubts(configuration);
    throw;
  }
}

void log_findings(const ImagingSetup& setup) {
  for (const std::string& line : setup.notes) spdlog::info("{}", line);
  for (const std::string& line : setup.warnings) spdlog::warn("{}", line);
}

Key method_key() {
  std::string meanings;
  for (const auto& method : registry()) {
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", method->name(), method->meaning());
  }
  static const std::string help = fmt::format("What makes images of frames. {}.", meanings);
  return keys::name(
      {"imaging", "method", "", help, {}, LiveEffect::imaging}, names(), [](auto& c) -> auto& { return c.imaging.method; });
}

}  // namespace echoform
