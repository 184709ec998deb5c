#include "simulators/scene_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/errors.hpp"
#include "simulators/body_shape.hpp"
#include "simulators/scene_echoes.hpp"
#include "simulators/simulator_configuration.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_hole_bytes = std::size_t{1} << 28;

using simulated::Place;
using simulated::SampledCurve;
using simulated::SampledShape;
using simulated::Spot;
using simulated::spot_of;

/// Number of samples that suffices to determine on which side of a surface something lies.
constexpr std::size_t check_samples = 1024;

/// Number of samples along each parameter of shapes in space, which determine sides by themselves or by a curve of their own.
constexpr std::size_t check_lattice = 16;

/// A surface, in the plane of x and z or in space.
class Wall {
 public:
  Wall(const CurveShape& shape, const std::vector<Spot>& places, bool in_space) {
    if (in_space) {
      shape_ = simulated::sample_shape(shape, places, places.front(), check_lattice);
      return;
    }
    std::vector<Place> plane;
    for (const Spot& place : places) plane.push_back(in_plane(place));
    curve_ = std::make_unique<const SampledCurve>(shape, plane, check_samples);
  }

  [[nodiscard]] double depth_below(const Spot& place) const {
    return curve_ != nullptr ? curve_->depth_below(in_plane(place)) : shape_->depth_below(place);
  }
  [[nodiscard]] std::string in_mm(const Spot& at) const {
    if (curve_ != nullptr) return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * at.x, 1e3 * at.z);
    return fmt::format("({:.4g}, {:.4g}, {:.4g}) mm", 1e3 * at.x, 1e3 * at.y, 1e3 * at.z);
  }

 private:
  std::unique_ptr<const SampledCurve> curve_;
  std::unique_ptr<const SampledShape> shape_;
};

void check_within(std::string_view where, std::string_view key, double value, double low, double high, std::string_view unit) {
  if (value >= low && value <= high) return;
  throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value), fmt::format("{:g} to {:g} {}", low, high, unit));
}

void check_waves(const SimulatorConfiguration& c, std::string_view where) {
  const SimulatedScene& scene = c.scene;
  if (scene.modes != "L" && scene.modes != "T" && scene.modes != "LT" && scene.modes != "TL") {
    throw InputError(fmt::format("{} modes", where), fmt::format("\"{}\"", scene.modes), "L, T or both");
  }
  // Interfaces convert one mode into the other even if only one mode is simulated.
  const double longitudinal = c.material.longitudinal_velocity.value;
  check_within(where, "shear_velocity", c.material.shear_velocity.value, 100.0, 20000.0, "m/s");
  if (!(c.material.shear_velocity.value < longitudinal)) {
    throw InputError(fmt::format("{} shear_velocity", where), fmt::format("{}", c.material.shear_velocity.value),
                     fmt::format("less than the longitudinal velocity, {} m/s", longitudinal));
  }
  check_within(where, "density", scene.density, 1.0, 1e5, "kg/m^3");
  check_within(where, "couplant_density", scene.couplant_density, 1.0, 1e5, "kg/m^3");
  if (scene.couplant.value != 0.0) check_within("[couplant]", "velocity", scene.couplant.value, 10.0, 20000.0, "m/s");
}

struct Part {
  std::unique_ptr<const Wall> surface;
  std::unique_ptr<const Wall> backwall;
};

void check_inside(const Part& part, const std::string& name, const Spot& centre, double radius) {
  const auto refuse = [&](const Wall& wall, double beyond, std::string_view what, std::string_view expected) {
    throw InputError(name, fmt::format("a place at {}, {:.3g} mm {}", wall.in_mm(centre), 1e3 * beyond, what), expected);
  };
  if (part.surface != nullptr) {
    const double depth = part.surface->depth_below(centre) - radius;
    if (!(depth > 0.0))
      refuse(*part.surface, -depth, "above the front surface",
             "a reflector inside the part, below [surface], throughout its motion");
  }
  if (part.backwall != nullptr) {
    const double height = -part.backwall->depth_below(centre) - radius;
    if (!(height > 0.0))
      refuse(*part.backwall, -height, "below the backwall",
             "a reflector inside the part, above [backwall], throughout its motion");
  }
}

}  // namespace

std::vector<double> phases_of(const SimulatorConfiguration& configuration) {
  const std::size_t frames = configuration.phantom.moving() ? configuration.cycle_frames : 1;
  std::vector<double> phases;
  for (std::size_t k = 0; k < frames; ++k)
    phases.push_back(static_cast<double>(k) / static_cast<double>(configuration.cycle_frames));
  return phases;
}

void check_scene(const SimulatorConfiguration& c, std::string_view where) {
  if (!c.scene.plain()) check_waves(c, where);
  // Elements of all positions of the probe.
  Probe probe;
  for (const Probe& placed : probes_at_positions(c)) {
    probe.elements.insert(probe.elements.end(), placed.elements.begin(), placed.elements.end());
  }
  std::vector<Spot> elements;
  for (const Element& element : probe.elements) elements.push_back(spot_of(element.centre));
  std::vector<Spot> places = elements;
  const std::vector<double> phases = phases_of(c);
  for (const double phase : phases) {
    for (const TruePosition& reflector : true_positions(c.phantom, phase)) places.push_back(spot_of(reflector.centre));
  }
  const bool space = in_space(probe, c.scene, c.phantom, phases);
  std::vector<Body> bodies = c.phantom.bodies;
  // A hole costs seconds for a large array, and as much memory in every engine of the source.
  const std::size_t holes = space ? 0 : c.phantom.holes.size();
  if (space) {
    for (const SideDrilledHole& hole : c.phantom.holes) {
      if (hole.motion.kind == MotionKind::still) {
        bodies.push_back(cylinder_of(hole, probe));
        continue;
      }
      throw InputError(fmt::format("{} hole \"{}\"", where, hole.name),
                       "one that moves, and elements, reflectors or surfaces beside the plane y = 0", "one that stays");
    }
    std::size_t bytes = 0;
    for (const Body& body : bodies) bytes += bytes_of_body(c.scene, probe, body);
    if (bytes > most_hole_bytes) {
      throw InputError(fmt::format("{} reflectors", where),
                       fmt::format("{} holes and bodies seen by {} elements, which need {:.3g} MB", bodies.size(),
                                   elements.size(), 1e-6 * static_cast<double>(bytes)),
                       fmt::format("some that need at most {:.3g} MB, or points", 1e-6 * static_cast<double>(most_hole_bytes)));
    }
    for (const Body& body : bodies) {
      for (const simulated::BodyExtent& extent : simulated::extents_of(body)) places.push_back(extent.at);
    }
  }
  if (const std::size_t bytes = holes * bytes_of_hole(c.scene, elements.size()); bytes > most_hole_bytes) {
    throw InputError(fmt::format("{} holes", where),
                     fmt::format("{} holes seen by {} elements, which need {:.3g} MB", holes, elements.size(),
                                 1e-6 * static_cast<double>(bytes)),
                     fmt::format("holes, elements and skips that need at most {:.3g} MB, or points",
                                 1e-6 * static_cast<double>(most_hole_bytes)));
  }
  Part part;
  const bool skips_twice = c.scene.backwall.kind != CurveKind::none && c.scene.skips > 1;
  if (c.scene.couplant.value > 0.0 || skips_twice) {
    CurveShape shape = c.scene.surface;
    if (shape.kind == CurveKind::none) shape.kind = CurveKind::plane;
    part.surface = std::make_unique<const Wall>(shape, places, space);
  }
  if (c.scene.backwall.kind != CurveKind::none) part.backwall = std::make_unique<const Wall>(c.scene.backwall, places, space);
  for (const auto& [wall, name] : {std::pair{part.surface.get(), "the front surface"}, {part.backwall.get(), "the backwall"}}) {
    // In contact the elements lie on the front surface itself.
    if (wall == nullptr || (wall == part.surface.get() && c.scene.couplant.value == 0.0)) continue;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double below = wall->depth_below(elements[i]);
      if (below < 0.0) continue;
      throw InputError(fmt::format("{} placement", where),
                       fmt::format("element {} at {}, {:.3g} mm below {}", i, wall->in_mm(elements[i]), 1e3 * below, name),
                       fmt::format("a probe above {}, by [probe] stand_off, angle and x", name));
    }
  }
  for (const Body& body : c.phantom.bodies) {
    for (const simulated::BodyExtent& extent : simulated::extents_of(body))
      check_inside(part, fmt::format("{} reflector \"{}\"", where, body.name), extent.at, extent.radius);
  }
  for (const double phase : phases) {
    std::size_t hole = 0;
    for (const TruePosition& reflector : true_positions(c.phantom, phase)) {
      if (reflector.kind == ReflectorKind::backwall) {
        throw InputError(fmt::format("{} backwall", where),
                         "one with a couplant, a backwall of its own section, shear waves or bodies", "[backwall] alone");
      }
      const double radius = reflector.kind == ReflectorKind::hole ? c.phantom.holes[hole++].radius.value : 0.0;
      if ((phase > 0.0 && !reflector.moving) || reflector.kind == ReflectorKind::body) continue;
      check_inside(
          part, fmt::format("{} {} \"{}\"", where, reflector.kind == ReflectorKind::hole ? "hole" : "scatterer", reflector.name),
          spot_of(reflector.centre), radius);
    }
  }
}

}  // namespace echoform
