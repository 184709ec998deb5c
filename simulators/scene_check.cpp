#include "simulators/scene_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/errors.hpp"
#include "simulators/fmc_simulator.hpp"
#include "simulators/scene_echoes.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_hole_bytes = std::size_t{1} << 28;

using simulated::Place;
using simulated::SampledCurve;

/// Fine enough to tell on which side of a surface something lies.
constexpr std::size_t check_samples = 1024;

std::string place_in_mm(Place at) {
  return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * at.x, 1e3 * at.z);
}

void check_within(std::string_view where, std::string_view key, double value, double low, double high, std::string_view unit) {
  if (value >= low && value <= high) return;
  throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value), fmt::format("{:g} to {:g} {}", low, high, unit));
}

void check_waves(const SimulatorConfiguration& c, std::string_view where) {
  const SimulatedScene& scene = c.scene;
  if (scene.modes != "L" && scene.modes != "T" && scene.modes != "LT" && scene.modes != "TL") {
    throw InputError(fmt::format("{} modes", where), fmt::format("\"{}\"", scene.modes), "L, T or both");
  }
  // Interfaces turn one mode into the other even where a single one is simulated.
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
  std::unique_ptr<SampledCurve> surface;
  std::unique_ptr<SampledCurve> backwall;
};

void check_inside(const Part& part, const std::string& name, Place centre, double radius) {
  const auto refuse = [&](double beyond, std::string_view what, std::string_view expected) {
    throw InputError(name, fmt::format("a place at {}, {:.3g} mm {}", place_in_mm(centre), 1e3 * beyond, what), expected);
  };
  if (part.surface != nullptr) {
    const double depth = part.surface->depth_below(centre) - radius;
    if (!(depth > 0.0))
      refuse(-depth, "above the front surface", "a reflector inside the part, below [surface], throughout its motion");
  }
  if (part.backwall != nullptr) {
    const double height = -part.backwall->depth_below(centre) - radius;
    if (!(height > 0.0))
      refuse(-height, "below the backwall", "a reflector inside the part, above [backwall], throughout its motion");
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
  if (c.rows > 1) {
    throw InputError(fmt::format("{} rows", where), fmt::format("{} with surfaces or shear waves", c.rows),
                     "1: those are simulated in the plane y = 0");
  }
  check_waves(c, where);
  std::vector<Place> places;
  std::vector<Place> elements;
  for (const Probe& probe : probes_at_positions(c)) {
    for (const Element& element : probe.elements) {
      if (!c.positions.empty() && (element.centre.y.value != 0.0 || element.normal.y != 0.0)) {
        throw InputError(fmt::format("{} positions", where), fmt::format("an element at y = {} m", element.centre.y.value),
                         "y = 0 and no tilt across: surfaces are simulated in one plane");
      }
      elements.push_back({element.centre.x.value, element.centre.z.value});
    }
  }
  places = elements;
  const std::vector<double> phases = phases_of(c);
  for (const double phase : phases) {
    for (const TruePosition& reflector : true_positions(c.phantom, phase)) {
      if (reflector.centre.y.value != 0.0) {
        throw InputError(fmt::format("{} \"{}\"", where, reflector.name), fmt::format("y = {} m", reflector.centre.y.value),
                         "y = 0: surfaces are simulated in one plane");
      }
      places.push_back({reflector.centre.x.value, reflector.centre.z.value});
    }
  }
  // Seconds a hole for a large array, and as much memory in every engine of the source.
  const std::size_t holes = c.phantom.holes.size();
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
    part.surface = std::make_unique<SampledCurve>(shape, places, check_samples);
  }
  if (c.scene.backwall.kind != CurveKind::none)
    part.backwall = std::make_unique<SampledCurve>(c.scene.backwall, places, check_samples);
  for (const auto& [curve, name] : {std::pair{part.surface.get(), "the front surface"}, {part.backwall.get(), "the backwall"}}) {
    // On the part elements lie on the front surface themselves.
    if (curve == nullptr || (curve == part.surface.get() && c.scene.couplant.value == 0.0)) continue;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double below = curve->depth_below(elements[i]);
      if (below < 0.0) continue;
      throw InputError(fmt::format("{} placement", where),
                       fmt::format("element {} at {}, {:.3g} mm below {}", i, place_in_mm(elements[i]), 1e3 * below, name),
                       fmt::format("a probe above {}, by [probe] stand_off, angle and x", name));
    }
  }
  for (const double phase : phases) {
    std::size_t hole = 0;
    for (const TruePosition& reflector : true_positions(c.phantom, phase)) {
      if (reflector.kind == ReflectorKind::backwall) {
        throw InputError(fmt::format("{} backwall", where), "one with a couplant, a backwall of its own section or shear waves",
                         "[backwall] alone");
      }
      const double radius = reflector.kind == ReflectorKind::hole ? c.phantom.holes[hole++].radius.value : 0.0;
      if (phase > 0.0 && !reflector.moving) continue;
      check_inside(
          part, fmt::format("{} {} \"{}\"", where, reflector.kind == ReflectorKind::hole ? "hole" : "scatterer", reflector.name),
          {reflector.centre.x.value, reflector.centre.z.value}, radius);
    }
  }
}

}  // namespace echoform
