// An imaging task joins settings and data into one value, which a method makes its recipe of.
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

/// The purpose of a setup: images of a recording, of a live run, or a description by `plan` of what a live run would do.
enum class ImagingUse : unsigned char { recording, live, description };

/// The images that are made in addition to the envelopes.
struct OutputWish {
  bool complex_images = false;
  bool display = true;
};

/// What the data state about the part.
struct StatedByData {
  Material material{};               ///< velocities of the part; 0 where none is stated
  MetresPerSecond wedge_velocity{};  ///< of a wedge between probe and part; 0: none is stated
};

/// Whether frames may be imaged by groups (pipeline/frame_groups.hpp).
enum class GroupWish : unsigned char {
  never,   ///< setups that the memory does not hold are refused
  needed,  ///< where the memory does not hold whole frames and the method supports groups
  always,
};

/// The arguments of resolve_imaging().
struct ImagingRequest {
  const Configuration& configuration;
  const Acquisition& acquisition;  ///< as stated by the data
  StatedByData stated{};
  std::size_t frames_in_flight = 1;
  ImagingUse use = ImagingUse::recording;
  std::uint64_t settings_revision = 0;
  OutputWish wish{};
  GroupWish groups = GroupWish::never;
  std::optional<RowRange> planes{};    ///< the only planes of [grid], along z, to be imaged; only if whole_grids_alone() is empty
  std::optional<bool> crop{};          ///< whether to crop to the samples that are needed; absent: by configuration and use
  ScanRecords* scans = nullptr;        ///< where scans go on from; null: each begins anew
  std::uint64_t imaging_revision = 0;  ///< revision of what images are made of; a scan of another one begins anew
  std::vector<std::string> scan_settings{};  ///< what images are made of, a line each, to find scans again ([scan] file)
  double besides = 0.0;                      ///< bytes of the host's memory that program, readers and outputs take
  /// Called with what is doubtful in settings and data, a line each, where the request is refused; empty: these lines go to
  /// the log.
  std::function<void(const std::string&)> refused{};
};

/// Settings after the data have been applied to them. Constant once made: a part of it that is imaged alone (a position of
/// a scan, for example) is another task, which is made of this one.
struct ImagingTask : ImagingSettings {
  explicit ImagingTask(const ImagingSettings& settings) : ImagingSettings(settings) {}

  /// The acquisition in which settings have replaced what the data state, valid. For a scan it has the probe at s = 0,
  /// where it need not be valid.
  Acquisition acquired;
  Material velocities;             ///< velocities of the part, replaced likewise; 0 where unknown
  std::optional<Grid> whole_grid;  ///< set if [grid] is the part of it that is seen from one position of a scan
  std::optional<RowRange> planes;  ///< this and the following members are those of ImagingRequest
  std::optional<bool> crop;
  ImagingUse use = ImagingUse::recording;
  OutputWish wish;
  GroupWish groups = GroupWish::never;
  std::size_t frames_in_flight = 1;
  double besides = 0.0;
  std::uint64_t settings_revision = 0;
  AcquisitionLimits limits;        ///< those of TaskRules
  std::vector<std::string> notes;  ///< what replaces what the data state, a line each
};

/// The rules of a method for data, before settings are applied.
struct TaskRules {
  AcquisitionLimits limits;  ///< limits that frames keep to
  bool takes_wedge = false;  ///< whether a wedge that the data state is the couplant where [couplant] velocity is absent
};

/// The usual rules: frames of recordings may be larger than what senders may state.
[[nodiscard]] TaskRules usual_rules(ImagingUse use);

/// Applies settings to data. Throws InputError, naming the settings and the key, as apply_overrides() and validate() of
/// acquisitions do, and for a wedge with a velocity below 10 m/s.
[[nodiscard]] ImagingTask make_imaging_task(const ImagingSettings& settings, const Acquisition& acquisition,
                                            const StatedByData& stated, const TaskRules& rules);

/// The task of one position of a scan: the probe is moved by `motion` from its place, and `part` of `whole_grid` is imaged.
/// Throws InputError where frames from that position are not valid.
[[nodiscard]] ImagingTask task_at(const ImagingTask& of_scan, const RigidMotion& motion, const Grid& part,
                                  const Grid& whole_grid);

/// The part of an axis with these planes (ImagingTask::planes).
[[nodiscard]] Axis part_of(const Axis& axis, const RowRange& planes);

/// Amplitude of one unit of a sample as the data state it: for counts their sample_scale, else 1.
[[nodiscard]] double stated_scale(const Acquisition& acquisition);

}  // namespace echoform
