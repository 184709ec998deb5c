// [scan]: where the probe is when the encoder counts so many, and what images of its positions become.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

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

struct ScanSection {
  ScanPath path = ScanPath::none;
  std::array<double, 3> direction{1.0, 0.0, 0.0};  ///< of any length above 0
  std::array<Metres, 3> centre{};
  std::array<double, 3> axis{0.0, 1.0, 0.0};  ///< right-handed: turns as s grows
  Metres origin;                              ///< s where the encoder counts 0
  double sign = 1.0;                          ///< 1 or -1: s grows or falls with the count
  Metres encoder_step{1e-3};                  ///< along the path, a count
  std::optional<Metres> step;                 ///< length of a cell; absent: one encoder step
  std::optional<Metres> coverage;             ///< to either side of the probe along the path; absent: the whole grid
  Composition composition = Composition::maximum;
  std::optional<Grid> whole;  ///< the grid of all, of a configuration of one position; no key has it
};

struct Configuration;

/// Whether frames are positions of a scan.
[[nodiscard]] bool scans(const Configuration& configuration);

/// Throws InputError, naming configuration and key, for a direction or an axis without length, a sign that is neither 1 nor -1,
/// and a grid that is not stated: a scan's image stays where the part is.
void check_scan(const Configuration& configuration);

/// Of length 1: where a line leads. Expects one that check_scan() has found right.
[[nodiscard]] Direction scan_direction(const ScanSection& scan);

/// What [scan] says of counts and cells.
[[nodiscard]] EncoderScale encoder_scale(const Configuration& configuration);

/// How the probe has been moved at s from where it was placed. `probe` is as placed: a circle's radius is the distance of its
/// elements' mean from the axis; InputError where that is below 1 um.
[[nodiscard]] RigidMotion scan_motion(const Configuration& configuration, const Probe& placed, Metres s);

}  // namespace echoform
