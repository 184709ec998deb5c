// A method makes images of frames. From settings and an acquisition it makes a recipe, and it answers all questions about
// it.
//
// Each method has a folder of its own, methods/NAME/, or belongs to another program (add_method()), and is found by
// [imaging] method. No code outside of the folder names it: the program, live control, the viewer and the documentation use
// this interface.
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
  /// The name in [imaging] method: lower-case letters, digits, - and _.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Half a sentence, for the documentation.
  [[nodiscard]] virtual std::string_view meaning() const = 0;

  /// Sections of the configuration that only this method has.
  [[nodiscard]] virtual std::vector<Section> sections() const { return {}; }
  /// Adds its keys, in sections of its own or in [imaging]. Their values are in a struct of the method: section() of
  /// config/configuration.hpp.
  virtual void add_keys(std::vector<Key>& /*keys*/) const {}

  /// The sections and keys that the method reads, of sections that are shared and of those of other methods. Entries are
  /// names of sections ("grid"), of single keys ("material.longitudinal_velocity"), and of keys of a section that it does
  /// not read ("!probe.normal"). It always reads its own keys. With none, the default, no key is reported to be without
  /// effect.
  [[nodiscard]] virtual std::optional<std::vector<std::string_view>> reads() const { return std::nullopt; }

  /// The kinds of stages that a method of another program adds. If one of them has no implementation for GPUs
  /// (StageKind::cuda), images are formed on the CPU.
  [[nodiscard]] virtual std::vector<const StageKind*> own_stages() const { return {}; }
  /// What other settings of a configuration only the CPU supports, in words; empty where there are none.
  [[nodiscard]] virtual std::string for_the_cpu_alone(const ImagingSettings& /*settings*/) const { return {}; }

  /// The settings that need whole grids, in words. Empty if each plane of [grid] can be imaged by itself
  /// (ImagingRequest::planes), so that several processes may divide an image among them.
  [[nodiscard]] virtual std::string whole_grids_alone(const ImagingSettings& /*settings*/) const {
    return "[imaging] method = \"" + std::string(name()) + "\"";
  }

  /// Whether the sharpness of images shows whether the velocity is right, so that live runs report it.
  [[nodiscard]] virtual bool tells_sharpness() const { return false; }

  /// Checks settings before any data is there: velocities that senders do not state, surfaces that cannot be made, grids
  /// that run backwards. Throws InputError, naming configuration and key.
  virtual void check(const ImagingSettings& /*settings*/, const Material& /*stated*/) const {}
  /// The names of the images of one frame, which outputs of its recipes have as views. Each image has an envelope, and
  /// there is at least one. Throws nothing: check() refuses names that are not possible.
  [[nodiscard]] virtual std::vector<std::string> images(const ImagingSettings& settings) const = 0;

  /// The rules for data before settings are applied. Throws InputError for data that the method cannot image whatever the
  /// settings.
  [[nodiscard]] virtual TaskRules rules(const ImagingSettings& /*settings*/, const Acquisition& /*stated*/,
                                        ImagingUse use) const {
    return usual_rules(use);
  }
  /// Everything that fixes how frames of a task become images. resolve_imaging() calls it. Throws InputError, naming
  /// settings and key, for acquisitions that the method does not accept, for settings that are missing, contradictory or
  /// out of range, and for a setup that needs more of the host's memory than require_host_memory() allows
  /// (methods/host_memory.hpp), before that memory is taken.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> resolve(const ImagingTask& task) const = 0;
  /// The setup that follows from `before`, a setup of one position, where only keys of LiveEffect::display have changed,
  /// without resolving anew. Null: the setup has to be resolved. For scans, retune_imaging() asks for the setup of their
  /// position. Throws InputError if an option is out of its range.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& /*before*/,
                                                                    const ImagingSettings& /*wanted*/,
                                                                    std::uint64_t /*settings_revision*/) const {
    return nullptr;
  }
  /// Writes into `asked` the values that a setup of this method uses where settings leave them to the data, so that the
  /// configuration would ask for exactly these.
  virtual void show_in_use(const ImagingSetup& /*setup*/, ImagingSettings& /*asked*/) const {}

  /// The expected figures of a setup of this method, for people and for scripts.
  [[nodiscard]] virtual SetupReport report(const ImagingSetup& /*setup*/) const { return {}; }
  /// Warnings about images of a recording, a line each, that take longer to find than making a setup may.
  [[nodiscard]] virtual std::vector<std::string> image_warnings(const ImagingSetup& /*setup*/) const { return {}; }

  /// The source of `simulate` and `demo`: echoes of the scene that the configuration describes. Throws InputError.
  [[nodiscard]] virtual SimulatorConfiguration simulated_source(const Configuration& configuration) const = 0;
};

/// The task of a request by the method's rules. Throws as Method::rules() and make_imaging_task() do.
[[nodiscard]] ImagingTask task_of(const Method& method, const ImagingRequest& request);

}  // namespace echoform
