// What the simulated sources look at: reflectors in a part, some of them moving. One phantom serves every simulator, and
// says where everything truly is, so that images can be judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"

namespace echoform {

/// Motion is periodic by construction: it is a function of the phase of a cycle, 0 <= phase < 1, so that a cycle of frames
/// closes smoothly whatever its length.
enum class MotionKind : std::uint8_t {
  still,
  linear,       ///< to and fro along `extent` at constant speed: displacement extent * triangle, from -1 to 1
  oscillating,  ///< displacement extent * sin
  circular,     ///< in the x-z plane: displacement (extent.x cos, 0, extent.z sin), an ellipse if they differ
};

struct Motion {
  MotionKind kind = MotionKind::still;
  Point extent;         ///< largest displacement along each axis
  unsigned turns = 1;   ///< periods in a cycle, at least 1
  double offset = 0.0;  ///< part of a period by which the motion is ahead at phase 0

  /// Displacement at `phase` of the cycle; any finite phase, period 1.
  [[nodiscard]] Point displacement(double phase) const;
};

/// Scatters equally in all directions.
struct PointScatterer {
  std::string name;
  Point centre;
  double reflectivity = 1.0;  ///< amplitude of its echo at the reference distance on the axis of an ideal element
  Motion motion;
};

/// A cylinder along y, seen from outside: the echo comes from the surface point where the normal halves the angle between
/// the directions to transmitter and receiver, with amplitude reflectivity * sqrt(cos(half that angle)): the high-frequency
/// (geometrical) scattering of a cylinder, whose sqrt(radius / 2) is taken as part of the reflectivity. No creeping waves.
struct SideDrilledHole {
  std::string name;
  Point centre;
  Metres radius;
  double reflectivity = 1.0;
  Motion motion;
};

enum class BodyKind : std::uint8_t { sphere, cylinder, disc, plate };

/// A reflector in space that does not move: a ball, a cylinder along any axis (by its side), or a flat body (by either
/// face). Flat bodies are a round disc (the end of a flat-bottomed hole) and a rectangular plate (a crack). The echo comes
/// from the place of the surface where the travel time is minimal, or stationary on a flat body, with the square root of the
/// geometric mean of the cosines there. Flat bodies also reflect from places of their edges where the time along the edge is
/// stationary, with edge_share of that amplitude. No body shadows another.
struct Body {
  BodyKind kind = BodyKind::sphere;
  std::string name;
  Point centre;
  Metres radius;      ///< of all but a plate
  Metres length;      ///< of a cylinder along its axis, of a plate along its level sides
  Metres height;      ///< of a plate, along the sides that go down
  double turn = 0.0;  ///< degrees; about z, from y towards x: of a cylinder's axis, or of a flat one's level line
  double dip = 0.0;   ///< degrees; how steeply the axis goes down, or of a flat one what lies square to its level line
  double reflectivity = 1.0;
};

inline constexpr double edge_share = 0.1;

/// The plane z = depth, seen by image sources. A finite one answers only where the mirror point lies on it.
struct Backwall {
  std::string name = "backwall";
  Metres depth;
  double reflectivity = 1.0;
  Metres x_first{-std::numeric_limits<double>::infinity()};
  Metres x_last{std::numeric_limits<double>::infinity()};
};

struct Phantom {
  std::vector<PointScatterer> points;
  std::vector<SideDrilledHole> holes;
  std::vector<Backwall> backwalls;
  std::vector<Body> bodies{};

  [[nodiscard]] bool moving() const;
  [[nodiscard]] std::size_t reflectors() const { return points.size() + holes.size() + backwalls.size() + bodies.size(); }
};

enum class ReflectorKind : std::uint8_t { point, hole, backwall, body };

struct TruePosition {
  std::string_view name;  ///< lives as long as the phantom
  ReflectorKind kind = ReflectorKind::point;
  Point centre;  ///< of the scatterer, the hole or the body; of a backwall the place below x = 0
  /// Where an image shows it: a scatterer's centre, the surface point of a hole or a sphere that faces the origin, else the
  /// centre.
  Point place;
  bool moving = false;
};

/// All reflectors in the order points, holes, backwalls, bodies, at `phase` of the cycle.
[[nodiscard]] std::vector<TruePosition> true_positions(const Phantom& phantom, double phase);

/// Where reflectors may be.
enum class PhantomRoom : std::uint8_t {
  below_zero,  ///< z > 0, for elements on the plane z = 0
  anywhere,    ///< for parts whose surfaces say it
};

/// Throws InputError (naming `where` and the reflector) unless numbers are finite, reflectivities within
/// -1e6 .. 1e6, radii positive, sizes of bodies no more than 10 m, turns 1 to 1000, extents of backwalls in order, and every
/// reflector stays in the part (the surface of a hole or a body too: z > 0) throughout the cycle, if the part is so.
void validate(const Phantom& phantom, std::string_view where, PhantomRoom room = PhantomRoom::below_zero);

/// The demo's part: three still scatterers, one scatterer going round a circle and one to and fro, two side-drilled holes and
/// a backwall at 36 mm, all within x = -16 .. 16 mm. `seed` chooses the place of the scatterer named "seeded", in
/// x = -4.5 .. 4.5 mm, z = 18.5 .. 22.5 mm; seeds that follow each other are at least 1 mm apart.
[[nodiscard]] Phantom default_phantom(std::uint64_t seed);

}  // namespace echoform
