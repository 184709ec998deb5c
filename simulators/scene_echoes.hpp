// The echoes of a part behind a couplant or above a backwall, with longitudinal and shear waves: what echo_model.hpp is for
// straight longitudinal rays. In the plane y = 0 where all of it lies there, else in space.
//
//   s_tx,rx(t) = sum over reflectors and pairs of sides of A * F_tx * F_rx * g(t - t_tx - t_rx)  +  echoes of the walls
//
// A side is a way between element and reflector: straight as L or T, by one reflection at the backwall as LL, LT, TL or TT, or
// by another one at the front surface from below, as LLL, LLT ...; all pairs of a side out and a side back are there. Its time is
// the least one (least_time.hpp), and F = D * I * G:
//   D  directivity of the element towards where its own leg ends, at the wavelength of that leg
//   I  product of what the interfaces leave of a plane wave at that angle (interface_waves.hpp)
//   G  spreading over R = sum r_k c_k / c_1, the distance at which the source seems to lie through a plane; curvature is not
//   followed
// Reflectors scatter each mode into each alike. Holes answer at the place of their surface where the time over both sides is
// least, with sqrt of the mean (geometric) cosine of the angles there; in space they are cylinders, and bodies likewise
// (body_echoes.hpp).
// Echoes of walls have D_tx D_rx I G(R_tx + R_rx), I with the reflection. No polarity, no attenuation, no further reflections.
// Transmitter and receiver may be exchanged in all of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "simulators/body_echoes.hpp"
#include "simulators/echo_model.hpp"
#include "simulators/sampled_curve.hpp"
#include "simulators/simulated_scene.hpp"
#include "simulators/ways.hpp"

namespace echoform {

struct SceneOptions {
  SimulatedScene scene;
  Material material;
  Spreading spreading = Spreading::cylindrical;
  bool directivity = true;
};

/// Whether some element, reflector or surface is not described by the plane of x and z, so that paths are searched in space.
/// `probe` is placed in the part.
[[nodiscard]] bool in_space(const Probe& probe, const SimulatedScene& scene, const Phantom& phantom,
                            const std::vector<double>& phases);

/// Bytes that the ways to one hole's rim take, for the sides of the scene.
[[nodiscard]] std::size_t bytes_of_hole(const SimulatedScene& scene, std::size_t elements);

/// Bytes that the ways to one body's surface take.
[[nodiscard]] std::size_t bytes_of_body(const SimulatedScene& scene, const Probe& probe, const Body& body);

/// A side-drilled hole that is seen in space: a cylinder along y, as long as rays from the elements may meet it.
[[nodiscard]] Body cylinder_of(const SideDrilledHole& hole, const Probe& probe);

/// Everything that does not move: tables of travel times, echoes of the walls, and sides to the reflectors at rest. It does
/// not change once made.
class SceneEchoes {
 public:
  /// `probe` is where it is, with a centre frequency above 0; `phases` of the phantom's cycle will be asked for. Expects a valid
  /// phantom, whose holes stay where they are if it lies in space. Dead elements have no echoes of walls.
  SceneEchoes(const Probe& probe, const SceneOptions& options, const Phantom& phantom, const std::vector<double>& phases);

  struct Side {
    double time = 0.0;  ///< NaN: no way
    double factor = 0.0;
    simulated::Place last;  ///< where the leg that arrives begins, for holes
  };
  struct Hole {
    simulated::Place centre;
    double radius = 0.0;
    double reflectivity = 0.0;
    std::vector<Side> sides;  ///< [side, element, place of the rim]
  };
  struct Point {
    double reflectivity = 0.0;
    std::vector<Side> sides;  ///< [side, element]
  };
  /// The reflectors at one phase.
  struct Reflectors {
    std::vector<std::shared_ptr<const Point>> points;
    std::vector<std::shared_ptr<const Hole>> holes;
  };
  [[nodiscard]] Reflectors at(double phase) const;

  /// Replaces `echoes` by those of the pair, in no order of time.
  void echoes(const Reflectors& reflectors, std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const;

  /// Modes of the sides, from the element: "L", "T", "LL" ... "TTT"
  [[nodiscard]] const std::vector<std::string>& sides() const { return sides_; }

 private:
  [[nodiscard]] Side side(std::size_t element, const std::string& modes, const simulated::Spot& to) const;
  /// The amplitude that the path leaves of 1. Expects a path that exists.
  [[nodiscard]] double factor_of(std::size_t element, const std::string& modes, const simulated::Way& way) const;
  [[nodiscard]] double directivity(std::size_t element, char mode, const simulated::Spot& towards) const;
  [[nodiscard]] std::shared_ptr<const Point> point(double reflectivity, const simulated::Spot& at) const;
  [[nodiscard]] std::shared_ptr<const Hole> hole(double reflectivity, double radius, simulated::Place at) const;
  void add_hole(const Hole& hole, std::size_t transmit, std::size_t receive, std::vector<Echo>& echoes) const;
  void find_wall_echoes();
  [[nodiscard]] std::size_t pair(std::size_t transmit, std::size_t receive) const;

  std::vector<Element> elements_;
  SceneOptions options_;
  Phantom phantom_;
  Hertz frequency_;
  std::vector<std::string> sides_;
  bool in_space_;
  std::unique_ptr<const simulated::Ways> ways_;
  Reflectors still_;  // null where the reflector moves
  std::vector<std::shared_ptr<const BodyEchoes>> bodies_;
  std::vector<std::vector<Echo>> walls_;  // by pair, transmit <= receive
};

}  // namespace echoform
