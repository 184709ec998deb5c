// A method makes images of frames: from settings and an acquisition to a recipe, and everything that people may ask of it.
//
// Each lives in a folder of its own, methods/NAME/, or in another program (add_method()), and is found by [imaging] method.
// Nobody outside of the folder names it: the program, live control, the viewer and the documentation ask through this interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/key.hpp"
#include "methods/imaging_task.hpp"
#include "methods/setup_report.hpp"
#include "pipeline/imaging_setup.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {

class Method {
 public:
  virtual ~Method() = default;
  /// As [imaging] method has it: lower-case letters, digits, - and _.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Half a sentence, for the documentation.
  [[nodiscard]] virtual std::string_view meaning() const = 0;

  /// Sections of the configuration that only this method has.
  [[nodiscard]] virtual std::vector<Section> sections() const { return {}; }
  /// Its keys, in sections of its own or in [imaging]. Their values are in a struct of the method: section() of
  /// config/configuration.hpp.
  virtual void add_keys(std::vector<Key>& /*keys*/) const {}

  /// What it takes of the sections that no method has to itself, and of those of other methods: names of sections ("grid"), of
  /// single keys ("material.longitudinal_velocity"), and of keys that it does not take of a section ("!probe.normal"). It reads
  /// keys of its own anyway. None, the default: no key is said to be without effect.
  [[nodiscard]] virtual std::optional<std::vector<std::string_view>> reads() const { return std::nullopt; }

  /// Kinds of stages that it brings along, where it stands in another program: where one of them is not made for GPUs
  /// (StageKind::cuda), images are formed on the CPU.
  [[nodiscard]] virtual std::vector<const StageKind*> own_stages() const { return {}; }
  /// What else of a configuration only the CPU can do, in words; empty where there is nothing.
  [[nodiscard]] virtual std::string for_the_cpu_alone(const ImagingSettings& /*settings*/) const { return {}; }

  /// What of a configuration needs whole grids, in words; empty where each plane of [grid] can be imaged by itself
  /// (ImagingRequest::planes), so that several processes may share an image out.
  [[nodiscard]] virtual std::string whole_grids_alone(const ImagingSettings& /*settings*/) const {
    return "[imaging] method = \"" + std::string(name()) + "\"";
  }

  /// Whether how sharp images are says whether the velocity is right, so that live runs tell it.
  [[nodiscard]] virtual bool tells_sharpness() const { return false; }

  /// What can be said of settings before any data is there: velocities that senders do not state, surfaces that cannot be made,
  /// grids that run the wrong way. Throws InputError, naming configuration and key.
  virtual void check(const ImagingSettings& /*settings*/, const Material& /*stated*/) const {}
  /// Names of the images of one frame, as outputs of its recipes call their views, each of which has an envelope; at least one.
  /// Throws nothing: names that cannot be are check()'s.
  [[nodiscard]] virtual std::vector<std::string> images(const ImagingSettings& settings) const = 0;

  /// What is asked of data before settings meet them. Throws InputError for data that the method cannot take whatever the
  /// settings.
  [[nodiscard]] virtual TaskRules rules(const ImagingSettings& /*settings*/, const Acquisition& /*stated*/,
                                        ImagingUse use) const {
    return usual_rules(use);
  }
  /// Everything that fixes how frames of a task become images; resolve_imaging() is what calls it. Throws InputError,
  /// naming settings and key, for acquisitions that the method does not take, settings that are missing, contradictory or
  /// out of range, and a setup that needs more of the host's memory than require_host_memory() lets it have
  /// (methods/host_memory.hpp): before it is taken.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const = 0;
  /// The setup that follows from `before`, which is of one position, where nothing but keys of LiveEffect::display has
  /// changed, without resolving anew; null: it has to be. Of scans, retune_imaging() asks for their position's setup.
  /// Throws InputError if an option is out of its range.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& /*before*/,
                                                                    const ImagingSettings& /*wanted*/,
                                                                    std::uint64_t /*settings_revision*/) const {
    return nullptr;
  }
  /// Puts what a setup of this method is made with where settings leave it to the data: into the configuration that would ask for
  /// just that.
  virtual void show_in_use(const ImagingSetup& /*setup*/, ImagingSettings& /*asked*/) const {}

  /// What a setup of this method will give: figures for people and for scripts.
  [[nodiscard]] virtual SetupReport report(const ImagingSetup& /*setup*/) const { return {}; }
  /// What is likely to disappoint in images of a recording, a line each, where it takes longer to find than setups may.
  [[nodiscard]] virtual std::vector<std::string> image_warnings(const ImagingSetup& /*setup*/) const { return {}; }

  /// The source of `simulate` and `demo`: echoes of the scene that the configuration describes. Throws InputError.
  [[nodiscard]] virtual SimulatorConfiguration simulated_source(const Configuration& configuration) const = 0;
};

/// The task of a request by the method's rules. Throws as Method::rules() and make_imaging_task().
[[nodiscard]] ImagingTask task_of(const Method& method, const ImagingRequest& request);

}  // namespace echoform
