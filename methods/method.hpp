// A method makes images of frames: from settings and an acquisition to a recipe, and everything that people may ask of it.
//
// Each lives in a folder of its own, methods/NAME/, or in another program (add_method()), and is found by [imaging] method.
// Nobody outside of the folder names it: the program, live control, the viewer and the documentation ask through this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "methods/setup_report.hpp"
#include "pipeline/imaging_setup.hpp"
#include "pipeline/scan.hpp"

namespace echoform {

/// What a setup is for: images of a recording, of a live run, or `plan`, which describes that of a live run.
enum class ImagingUse : unsigned char { recording, live, description };

/// Which images are made beside the envelopes.
struct OutputWish {
  bool complex_images = false;
  bool display = true;
};

/// What data state of themselves.
struct StatedByData {
  Material material{};               ///< velocities of the part; 0 where none is stated
  MetresPerSecond wedge_velocity{};  ///< of a wedge between probe and part; 0: none is stated
};

/// Whether frames may be imaged by groups (pipeline/frame_groups.hpp).
enum class GroupWish : unsigned char {
  never,   ///< setups that the memory does not hold are refused
  needed,  ///< where the memory does not hold whole frames, and the method can
  always,
};

struct ImagingRequest {
  const Configuration& configuration;
  const Acquisition& acquisition;  ///< as the data state it
  StatedByData stated{};
  std::size_t frames_in_flight = 1;
  ImagingUse use = ImagingUse::recording;
  std::uint64_t settings_revision = 0;
  OutputWish wish{};
  GroupWish groups = GroupWish::never;
  std::optional<RowRange> planes{};          ///< of [grid], along z, to be imaged alone: where whole_grids_alone() is empty
  std::optional<bool> crop{};                ///< whether to the samples that are needed; absent: as configuration and use have it
  ScanRecords* scans = nullptr;              ///< where scans go on from; null: each begins anew
  std::uint64_t imaging_revision = 0;        ///< of what images are made of: a scan of another one begins anew
  std::vector<std::string> scan_settings{};  ///< that, a line each, for scans that are found again ([scan] file)
  double besides = 0.0;  ///< bytes of the host's memory that are taken beside the images: by the program, readers and outputs
  /// Told what is doubtful in settings and data, a line each, where the request is refused; empty: the log is.
  std::function<void(const std::string&)> refused{};
};

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

  /// Kinds of stages that it brings along, where it stands in another program: where one of them is not made for GPUs
  /// (StageKind::cuda), images are formed on the CPU.
  [[nodiscard]] virtual std::vector<const StageKind*> own_stages() const { return {}; }
  /// What else of a configuration only the CPU can do, in words; empty where there is nothing.
  [[nodiscard]] virtual std::string for_the_cpu_alone(const Configuration& /*configuration*/) const { return {}; }

  /// What of a configuration needs whole grids, in words; empty where each plane of [grid] can be imaged by itself
  /// (ImagingRequest::planes), so that several processes may share an image out.
  [[nodiscard]] virtual std::string whole_grids_alone(const Configuration& /*configuration*/) const {
    return "[imaging] method = \"" + std::string(name()) + "\"";
  }

  /// Whether how sharp images are says whether the velocity is right, so that live runs tell it.
  [[nodiscard]] virtual bool tells_sharpness() const { return false; }

  /// What can be said of settings before any data is there: velocities that senders do not state, surfaces that cannot be made,
  /// grids that run the wrong way. Throws InputError, naming configuration and key.
  virtual void check(const Configuration& /*configuration*/, const Material& /*stated*/) const {}
  /// Names of the images of one frame, as outputs of its recipes call their views, each of which has an envelope; at least one.
  /// Throws nothing: names that cannot be are check()'s.
  [[nodiscard]] virtual std::vector<std::string> images(const Configuration& configuration) const = 0;

  /// Everything that fixes how frames of the acquisition become images; resolve_imaging() is what calls it. Throws InputError,
  /// naming configuration and key, for acquisitions that the method does not take, settings that are missing, contradictory or
  /// out of range, and a setup that needs more of the host's memory than require_host_memory() lets it have
  /// (methods/host_memory.hpp): before it is taken.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> resolve(const ImagingRequest& request) const = 0;
  /// The setup that follows from `before` where nothing but keys of LiveEffect::display has changed, without resolving anew;
  /// null: it has to be. Throws InputError if an option is out of its range.
  [[nodiscard]] virtual std::shared_ptr<const ImagingSetup> retuned(const ImagingSetup& /*before*/,
                                                                    const Configuration& /*wanted*/,
                                                                    std::uint64_t /*settings_revision*/) const {
    return nullptr;
  }
  /// Puts what a setup of this method is made with where settings leave it to the data: into the configuration that would ask for
  /// just that.
  virtual void show_in_use(const ImagingSetup& /*setup*/, Configuration& /*asked*/) const {}

  /// What a setup of this method will give: figures for people and for scripts.
  [[nodiscard]] virtual SetupReport report(const ImagingSetup& /*setup*/) const { return {}; }
  /// What is likely to disappoint in images of a recording, a line each, where it takes longer to find than setups may.
  [[nodiscard]] virtual std::vector<std::string> image_warnings(const ImagingSetup& /*setup*/) const { return {}; }

  /// The source of `simulate` and `demo`: echoes of the scene that the configuration describes. Throws InputError.
  [[nodiscard]] virtual SimulatorConfiguration simulated_source(const Configuration& configuration) const = 0;
};

}  // namespace echoform
