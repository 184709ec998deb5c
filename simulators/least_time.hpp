// Travel times through and off surfaces by brute force: Fermat's least time over samples of each surface, narrowed down by golden
// sections between the neighbours of the best one, or over several surfaces at once (least_search.hpp). It shares nothing with
// the solver in rays/, so that images of simulated frames check both. At set-up only.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "simulators/interface_waves.hpp"
#include "simulators/sampled_curve.hpp"
#include "simulators/simulated_scene.hpp"

namespace echoform::simulated {

/// The path from an element to a place in the part.
struct Ray {
  double time = std::numeric_limits<double>::quiet_NaN();  ///< seconds; NaN where there is none
  Place first;                                             ///< where the element's own leg ends
  Place last;                                              ///< where the leg that arrives begins
  double reach =
      0.0;  ///< sum of length * velocity over legs, by the first leg's velocity: how far off the source seems through a plane
  double share = 1.0;  ///< amplitude that interfaces have left
  double entry = 0.0;  ///< parameter of `first` on the surface below a couplant

  [[nodiscard]] bool found() const { return time == time; }
};

/// The path from one element by reflection at a surface to another element.
struct WallRay {
  Ray transmit;
  Ray receive;         ///< likewise from its element
  double share = 1.0;  ///< amplitude that the reflection has left
  Place at;
};

/// All the rays of one probe in one scene, in the plane of x and z. A local least time at a curve's end is no ray; one at a
/// corner is the wave that the corner scatters, and counts. The earliest counts whose legs keep to their sides of the surfaces.
class LeastTimes {
 public:
  /// `places`: all that rays will be asked to, so that planes are sampled where they are met. Tables: 8 bytes for each element
  /// and sample of the surface, of the backwall a mode, and with scene.skips of 2 of the front surface a pair of modes.
  LeastTimes(const SimulatedScene& scene, const Material& material, std::vector<Place> elements,
             const std::vector<Place>& places);

  [[nodiscard]] std::size_t elements() const { return elements_.size(); }

  /// The straight ray in the part, in mode `mode` ('L' or 'T').
  [[nodiscard]] Ray direct(std::size_t element, char mode, Place to) const;
  /// The ray to the backwall in mode `first`, and from there in mode `second`. Expects a backwall.
  [[nodiscard]] Ray skip(std::size_t element, char first, char second, Place to) const;
  /// The ray of three modes: to the backwall, from there to the front surface from below, and to the place. Expects a
  /// backwall and scene.skips of 2.
  [[nodiscard]] Ray double_skip(std::size_t element, const std::string& modes, Place to) const;
  /// The ray of a side with the modes "L", "TL" or "TTT", in the order of travel from the element.
  [[nodiscard]] Ray side(std::size_t element, const std::string& modes, Place to) const;

  /// The ray in the couplant to the front surface and back. Nothing without a couplant, or where the surface reflects no
  /// ray.
  [[nodiscard]] std::optional<WallRay> front_echo(std::size_t transmit, std::size_t receive) const;
  /// The ray to the backwall in mode `down`, and back in mode `up`. Nothing without a backwall, or where it reflects no ray.
  [[nodiscard]] std::optional<WallRay> backwall_echo(std::size_t transmit, std::size_t receive, char down, char up) const;

 private:
  [[nodiscard]] double velocity(char mode) const;
  [[nodiscard]] Ray through(std::size_t element, char mode, Place to, const std::vector<double>& below) const;
  [[nodiscard]] std::vector<double> times_below(char mode, Place to) const;
  void reach_backwall(char mode);
  /// Finds the minimum times to the front surface from below, over the samples of the backwall.
  void reach_underside(char first, char second);
  /// The sample of the backwall by which that minimum time is reached.
  [[nodiscard]] std::size_t turn_before(std::size_t element, const std::string& modes, Place at) const;
  /// The ray in the neighbourhood of a sample of the backwall and one of the front surface.
  [[nodiscard]] Ray over_both(std::size_t element, const std::string& modes, Place to, std::size_t back, std::size_t under) const;
  /// Whether a leg of a path that skips twice leaves the part.
  [[nodiscard]] bool blocked(Place from, Place to) const;
  /// Local minima of the sampled times on the backwall, earliest first, interpolated between the samples by a parabola.
  [[nodiscard]] std::vector<double> turning_places(const std::vector<double>& times) const;
  [[nodiscard]] double slowness_along(Place normal, Place from, Place at, double velocity) const;
  [[nodiscard]] const std::vector<std::vector<double>>& table(char mode) const;

  SimulatedScene scene_;
  Material material_;
  FluidSolid front_waves_;
  SolidFree back_waves_;
  std::vector<Place> elements_;
  std::unique_ptr<SampledCurve> surface_;          // null without a couplant
  std::unique_ptr<SampledCurve> backwall_;         // null without one
  std::vector<std::vector<double>> above_;         // [element][sample of the surface]: times in the couplant
  std::vector<std::vector<double>> longitudinal_;  // [element][sample of the backwall]
  std::vector<std::vector<double>> shear_;
  std::vector<std::vector<double>> entries_longitudinal_;  // parameters of the places where the surface is passed, likewise
  std::vector<std::vector<double>> entries_shear_;
  std::unique_ptr<SampledCurve> underside_;  // the front surface, where ways skip twice; also without a couplant
  std::map<std::string, std::vector<std::vector<double>>> from_below_;  // by two modes: [element][sample of the underside]
};

}  // namespace echoform::simulated
