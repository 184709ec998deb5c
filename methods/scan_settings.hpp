// [scan]: where the probe is at a count of the encoder, and what becomes of images of its positions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "acquisition/pose.hpp"
#include "acquisition/rigid_motion.hpp"
#include "base/geometry.hpp"
#include "base/grid.hpp"
#include "base/units.hpp"
#include "pipeline/scan.hpp"

namespace echoform {

enum class ScanPath : std::uint8_t {
  none,    ///< every frame is an image of its own
  line,    ///< the probe is shifted by s along `direction`
  circle,  ///< the probe is rotated about `axis` through `centre`; its aperture's centre moves by s along the arc
};

/// What becomes of a scan in [scan] file when the program starts.
enum class ScanResume : std::uint8_t {
  same,   ///< it goes on if it is made of the same settings and data, and is refused otherwise
  never,  ///< it is overwritten
};

struct ScanSection {
  ScanPath path = ScanPath::none;
  std::array<double, 3> direction{1.0, 0.0, 0.0};  ///< of any length above 0
  std::array<Metres, 3> centre{};
  std::array<double, 3> axis{0.0, 1.0, 0.0};  ///< right-handed: rotation as s grows
  Metres origin;                              ///< s where the encoder counts 0
  double sign = 1.0;                          ///< 1 or -1: s grows or falls with the count
  Metres encoder_step{1e-3};                  ///< along the path, a count
  std::optional<Metres> step;                 ///< length of a cell; absent: one encoder step
  Metres tolerance{0.1e-3};                   ///< of the distance from the path of places that files state
  std::optional<Metres> coverage;             ///< to either side of the probe along the path; absent: the whole grid
  std::optional<Metres> depth;                ///< before the probe, along its emission; absent: the whole grid
  Composition composition = Composition::maximum;
  std::string file;          ///< where a server keeps the scan; empty: nowhere
  Seconds save_every{60.0};  ///< and how often it is written
  ScanResume resume = ScanResume::same;
};

struct ImagingSettings;

/// Whether frames are positions of a scan.
[[nodiscard]] bool scans(const ImagingSettings& settings);
/// Whether a server keeps that scan in a file.
[[nodiscard]] bool keeps_scan(const ImagingSettings& settings);

/// Throws InputError, naming configuration and key, for a direction or an axis of length 0, and a sign that is neither 1
/// nor -1.
void check_scan_path(const ImagingSettings& settings);
/// Throws the same, and also for a grid that is not stated: the image of a scan stays where the part is.
void check_scan(const ImagingSettings& settings);

/// The direction of a line, of length 1. Here and in all functions below, check_scan_path() has accepted the section.
[[nodiscard]] Direction scan_direction(const ScanSection& scan);

/// The encoder's counts and the cells of [scan].
[[nodiscard]] EncoderScale encoder_scale(const ImagingSettings& settings);

/// The motion of the probe from where it was placed to s. `placed` is the probe as placed. The radius of a circle is the
/// distance of the mean of its elements from the axis; throws InputError where that is below 1 um.
[[nodiscard]] RigidMotion scan_motion(const ImagingSettings& settings, const Probe& placed, Metres s);

/// The length s of a motion by 1 along the path: 1 m for a line (a metre), the radius for a circle (a radian). Throws as
/// scan_motion().
[[nodiscard]] Metres length_of_way(const ImagingSettings& settings, const Probe& placed);
/// The motion by `way`: metres along a line, radians about the axis of a circle.
[[nodiscard]] RigidMotion motion_by(const ScanSection& scan, double way);
/// How far a pose is along the path, whatever else it does; its axes have length 1 and are orthogonal. For a line this is
/// the component of its origin along the line. For a circle it is the rotation about the circle's axis, above -pi up to pi,
/// of its axes from the axes of the coordinates (the twist of the rotation), in radians. A motion along the path adds
/// exactly its own `way` (motion_by()).
[[nodiscard]] double way_of(const ScanSection& scan, const Pose& pose);
/// The pose after that motion.
[[nodiscard]] Pose moved(const Pose& pose, const RigidMotion& motion);

}  // namespace echoform
