// [scan]: where the probe is when the encoder counts so many, and what images of its positions become.
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
  circle,  ///< the probe is turned about `axis` through `centre`, by the angle at which its aperture's centre has gone s
};

/// What becomes of a scan in [scan] file when the program starts.
enum class ScanResume : std::uint8_t {
  same,   ///< it goes on where it is made of the same, and is refused otherwise
  never,  ///< it is written over
};

struct ScanSection {
  ScanPath path = ScanPath::none;
  std::array<double, 3> direction{1.0, 0.0, 0.0};  ///< of any length above 0
  std::array<Metres, 3> centre{};
  std::array<double, 3> axis{0.0, 1.0, 0.0};  ///< right-handed: turns as s grows
  Metres origin;                              ///< s where the encoder counts 0
  double sign = 1.0;                          ///< 1 or -1: s grows or falls with the count
  Metres encoder_step{1e-3};                  ///< along the path, a count
  std::optional<Metres> step;                 ///< length of a cell; absent: one encoder step
  Metres tolerance{0.1e-3};                   ///< of places that files state, beside the path
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

/// Throws InputError, naming configuration and key, for a direction or an axis without length, and a sign that is neither 1 nor
/// -1.
void check_scan_path(const ImagingSettings& settings);
/// The same, and for a grid that is not stated: a scan's image stays where the part is.
void check_scan(const ImagingSettings& settings);

/// Of length 1: where a line leads. Expects one that check_scan_path() has found right, as all below do.
[[nodiscard]] Direction scan_direction(const ScanSection& scan);

/// What [scan] says of counts and cells.
[[nodiscard]] EncoderScale encoder_scale(const ImagingSettings& settings);

/// How the probe has been moved at s from where it was placed. `probe` is as placed: a circle's radius is the distance of its
/// elements' mean from the axis; InputError where that is below 1 um.
[[nodiscard]] RigidMotion scan_motion(const ImagingSettings& settings, const Probe& placed, Metres s);

/// s of a motion along the path: 1 m a metre of a line, the radius a radian of a circle. Throws as scan_motion().
[[nodiscard]] Metres length_of_way(const ImagingSettings& settings, const Probe& placed);
/// The motion by `way`: metres along a line, radians about the axis of a circle.
[[nodiscard]] RigidMotion motion_by(const ScanSection& scan, double way);
/// How far a pose, whose axes are of length 1 and across each other, is along the path by itself, whatever else it does: the part
/// of its origin along a line; the turn about a circle's axis, above -pi up to pi, that its axes have of those of the
/// coordinates (the twist of their rotation). A motion along the path adds to it just its own way.
[[nodiscard]] double way_of(const ScanSection& scan, const Pose& pose);
/// Where that motion puts a probe's coordinates that are the part's own.
[[nodiscard]] Pose moved(const Pose& pose, const RigidMotion& motion);

}  // namespace echoform
