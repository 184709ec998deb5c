// From settings and data to what is to be imaged: one value, which a method makes its recipe of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/rigid_motion.hpp"
#include "base/grid.hpp"
#include "config/configuration.hpp"
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

/// What resolve_imaging() is asked.
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

/// Settings that have met the data. Constant once it is made: what is imaged of it alone (a position of a scan, say) is another
/// task that is made of it.
struct ImagingTask : ImagingSettings {
  explicit ImagingTask(const ImagingSettings& settings) : ImagingSettings(settings) {}

  /// As the settings have replaced what the data state, and valid; of a scan with the probe at s = 0, where it need not be valid.
  Acquisition acquired;
  Material velocities;             ///< of the part, likewise; 0 where unknown
  std::optional<Grid> whole_grid;  ///< of which [grid] is the part that is seen from one position of a scan
  std::optional<RowRange> planes;  ///< as ImagingRequest has them, and so below
  std::optional<bool> crop;
  ImagingUse use = ImagingUse::recording;
  OutputWish wish;
  GroupWish groups = GroupWish::never;
  std::size_t frames_in_flight = 1;
  double besides = 0.0;
  std::uint64_t settings_revision = 0;
  AcquisitionLimits limits;        ///< of TaskRules
  std::vector<std::string> notes;  ///< what replaces what the data state, a line each
};

/// What a method says of data before settings meet them.
struct TaskRules {
  AcquisitionLimits limits;  ///< that frames keep to
  bool takes_wedge = false;  ///< whether a wedge that the data state is the couplant where [couplant] velocity is absent
};

/// Frames of recordings may be larger than what senders may state.
[[nodiscard]] TaskRules usual_rules(ImagingUse use);

/// Throws InputError, naming the settings and the key, as apply_overrides() and validate() of acquisitions do, and for a wedge
/// slower than 10 m/s.
[[nodiscard]] ImagingTask make_imaging_task(const ImagingSettings& settings, const Acquisition& acquisition,
                                            const StatedByData& stated, const TaskRules& rules);

/// The task of one position of a scan: the probe is moved by `motion` from where it stands, and `part` of `whole_grid` is imaged.
/// Throws InputError where frames from there are not valid.
[[nodiscard]] ImagingTask task_at(const ImagingTask& of_scan, const RigidMotion& motion, const Grid& part,
                                  const Grid& whole_grid);

/// Some planes of an axis, as ImagingTask::planes has them.
[[nodiscard]] Axis part_of(const Axis& axis, const RowRange& planes);

/// Amplitude of one unit of a sample as the data state it: of counts their sample_scale, else 1.
[[nodiscard]] double stated_scale(const Acquisition& acquisition);

}  // namespace echoform
