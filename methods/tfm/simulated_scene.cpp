#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acquisition/probe_frame.hpp"
#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "config/configuration.hpp"
#include "config/probe_positions.hpp"
#include "delay_laws/view.hpp"
#include "methods/scan_settings.hpp"
#include "methods/scan_turns.hpp"
#include "methods/tfm/scene.hpp"
#include "methods/tfm/section.hpp"
#include "methods/tfm/simulated_scene.hpp"
#include "rays/stl_file.hpp"
#include "rays/surface.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {
namespace {

/// The shape of a kind that the simulated source does not know, one of another program: a profile of places on its curve. The
/// places stand close together, because nodes are at most node_turn of the radius of curvature apart. So the spline through them,
/// for smooth curves, and the chords between them, for others, are off by less than 1e-5 of that radius.
CurveShape shape_of(const Surface& surface) {
  CurveShape shape;
  shape.kind = CurveKind::profile;
  const std::vector<SurfaceNode>& nodes = surface.nodes();
  shape.smooth = !surface.is_sampled();
  for (std::uint32_t k = 0; k + 1 < surface.segments().size(); ++k) shape.smooth = shape.smooth && surface.smooth_after(k);
  const int pieces = surface.is_sampled() ? 1 : shape.smooth ? 2 : 8;
  const auto add = [&shape](Vector2 at) { shape.knots.push_back({at.x, at.z}); };
  add(nodes.front().at);
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    const SurfacePlace from = nodes[k - 1].place;
    const SurfacePlace to = nodes[k].place;
    if (surface.is_sampled()) {
      add(nodes[k].at);
    } else if (from.segment == to.segment) {  // otherwise a joint: one place with two nodes
      for (int i = 1; i <= pieces; ++i) add(surface.point({to.segment, from.t + (to.t - from.t) * i / pieces}).at);
    }
  }
  return shape;
}

std::shared_ptr<const std::vector<MeshTriangle>> triangles_of(const std::string& file, const std::string& where, double scale,
                                                              const std::array<double, 3>& shift) {
  auto triangles = std::make_shared<std::vector<MeshTriangle>>();
  for (const auto& [a, b, c] : read_stl(file, fmt::format("{} file", where), scale)) {
    MeshTriangle& triangle = triangles->emplace_back();
    const std::array<Vector3, 3> corners{a, b, c};
    for (std::size_t k = 0; k < 3; ++k) triangle[k] = {corners[k].x + shift[0], corners[k].y + shift[1], corners[k].z + shift[2]};
  }
  return triangles;
}

/// The simulator's own description of a surface that make_scene() has accepted; `surface` is null for one in three dimensions.
/// `where` is its section.
CurveShape curve_of(const SurfaceSection& section, const Surface* surface, const std::string& where) {
  CurveShape shape;
  if (section.kind.empty()) return shape;
  const auto number = [&](std::string_view name) {
    const auto found = section.numbers.find(name);
    return found == section.numbers.end() ? 0.0 : found->second;
  };
  const auto word = [&](std::string_view name) {
    const auto found = section.words.find(name);
    return found == section.words.end() ? std::string() : found->second;
  };
  shape.x = number("x");
  shape.z = number("z");
  shape.angle = number("angle");
  shape.radius = number("radius");
  shape.y = number("y");
  shape.inside = word("side") == "inside";
  const auto number_or = [&](std::string_view name, double absent) {
    return section.numbers.contains(std::string(name)) ? number(name) : absent;
  };
  if (section.kind == "plane") {
    shape.kind = CurveKind::plane;
    shape.angle_across = number("angle_across");
  } else if (section.kind == "cylinder") {
    shape.kind = CurveKind::cylinder;
    shape.turn = number("turn");
    shape.dip = number("dip");
  } else if (section.kind == "sphere") {
    shape.kind = CurveKind::sphere;
  } else if (section.kind == "profile") {
    shape.kind = CurveKind::profile;
    shape.smooth = word("interpolation") == "spline";
    shape.knots = read_profile_knots(word("file"));
  } else if (section.kind == "revolved") {
    shape.kind = CurveKind::revolved;
    shape.smooth = word("interpolation") == "spline";
    shape.turn = number("turn");
    shape.dip = number_or("dip", 90.0);
    shape.knots = read_profile_knots(word("file"));
  } else if (section.kind == "stl") {
    shape.kind = CurveKind::mesh;
    shape.triangles = triangles_of(word("file"), where, number_or("scale", 1e-3), {shape.x, shape.y, shape.z});
  } else if (surface == nullptr) {
    throw InputError(fmt::format("{} kind", where), fmt::format("\"{}\" with the simulated source", section.kind),
                     "a plane, a cylinder, a sphere, a revolved profile, triangles, or what is drawn out along y");
  } else {
    return shape_of(*surface);
  }
  return shape;
}

std::string modes_of(const Configuration& configuration) {
  const SimulatorSection& section = echoform::section<SimulatorSection>(configuration);
  if (!section.modes) return configuration.couplant.velocity || !configuration.backwall.kind.empty() ? "LT" : "L";
  std::string modes;
  for (const std::string& mode : *section.modes) {
    if ((mode == "L" || mode == "T") && modes != mode) {
      modes += mode;
      continue;
    }
    throw InputError(fmt::format("{}: [simulator] modes", configuration.name()),
                     modes == mode ? fmt::format("\"{}\" twice", mode) : fmt::format("\"{}\"", mode), "\"L\", \"T\" or both");
  }
  return modes;
}

/// The largest number of skips of a view's side; 1 where no view skips.
std::size_t skips_of(const Configuration& configuration) {
  std::size_t legs = 2;
  for (const std::string& name : tfm(configuration).views) {
    if (!names_skip(name)) continue;
    const View view = parse_view(name);
    legs = std::max({legs, view.transmit.size(), view.receive.size()});
  }
  return legs - 1;
}

void add_bodies(std::string_view kind, const std::vector<Body>& some, std::vector<Body>& bodies) {
  for (std::size_t i = 0; i < some.size(); ++i) {
    bodies.push_back(some[i]);
    bodies.back().name = fmt::format("{} {}", kind, i);
  }
}

/// A number for each element in each event; empty where no file is named.
std::vector<std::vector<double>> rows_of_laws(const Configuration& configuration, std::string_view key, const std::string& path) {
  if (path.empty()) return {};
  const std::size_t elements = section<SimulatorSection>(configuration).source.element_count();
  const CsvFormat format{.file = "a CSV file with a line an event",
                         .row = "a number for each of the [simulator] elements",
                         .line = "a number for each element",
                         .number = "a number",
                         .rows = "events",
                         .least = elements,
                         .most = elements};
  return read_csv_numbers(path, fmt::format("{}: [simulator] {}", configuration.name(), key), format);
}

}  // namespace

SimulatorConfiguration simulator_configuration(const Configuration& configuration) {
  const SimulatorSection& section = echoform::section<SimulatorSection>(configuration);
  const std::string where = fmt::format("{}: [simulator]", configuration.name());
  SimulatorConfiguration source = section.source;
  const auto choose = [](auto& into, const auto& stated, const auto& of_material) {
    if (of_material) into = *of_material;
    if (stated) into = *stated;
  };
  choose(source.material.longitudinal_velocity, section.longitudinal_velocity, configuration.material.longitudinal_velocity);
  choose(source.material.shear_velocity, section.shear_velocity, configuration.material.shear_velocity);
  // A user who states one velocity alone, such as that of tissue, does not need the source's default shear waves.
  const bool stated_shear = section.shear_velocity || configuration.material.shear_velocity;
  if (!stated_shear && !(source.material.shear_velocity < source.material.longitudinal_velocity)) {
    source.material.shear_velocity = 0.5 * source.material.longitudinal_velocity;
  }
  source.transmit.delays = rows_of_laws(configuration, "delays", section.delays);
  source.transmit.weights = rows_of_laws(configuration, "weights", section.weights);
  // Surfaces are checked in the same way as on the imaging side.
  const Scene scene = make_scene(configuration);
  source.scene.couplant = configuration.couplant.velocity.value_or(MetresPerSecond(0.0));
  source.scene.surface = curve_of(configuration.surface, scene.surface.get(), configuration.place("[surface]"));
  source.scene.backwall = curve_of(configuration.backwall, scene.backwall.get(), configuration.place("[backwall]"));
  source.scene.modes = modes_of(configuration);
  source.scene.skips = section.skips.value_or(skips_of(configuration));
  const ProbeSection& probe = configuration.probe;
  source.positions = stated_positions(configuration);
  source.placement = {probe.x.value_or(Metres(0.0)), probe.stand_off.value_or(Metres(0.0)), probe.angle.value_or(0.0)};

  source.tissue.seed = source.seed;
  const bool bodies = section.spheres || section.cylinders || section.discs || section.plates;
  if (section.points || section.holes || bodies || section.backwall || !source.tissue.empty()) {
    Phantom part;
    if (section.points) part.points = *section.points;
    if (section.holes) part.holes = *section.holes;
    for (std::size_t i = 0; i < part.points.size(); ++i) part.points[i].name = fmt::format("point {}", i);
    for (std::size_t i = 0; i < part.holes.size(); ++i) part.holes[i].name = fmt::format("hole {}", i);
    if (section.spheres) add_bodies("sphere", *section.spheres, part.bodies);
    if (section.cylinders) add_bodies("cylinder", *section.cylinders, part.bodies);
    if (section.discs) add_bodies("disc", *section.discs, part.bodies);
    if (section.plates) add_bodies("plate", *section.plates, part.bodies);
    if (section.backwall) part.backwalls.push_back({.name = "backwall", .depth = *section.backwall});
    source.phantom = std::move(part);
  } else {
    source.phantom = default_phantom(source.seed);
    if (!source.scene.plain()) {
      Phantom part = std::exchange(source.phantom, {});
      // Errors of other settings are reported first.
      validate(source, where);
      part.backwalls.clear();
      keep_inside(part, source);
      source.phantom = std::move(part);
    }
  }
  if (!source_turns(configuration, source)) {
    validate(source, where);
    return source;
  }
  // Each reflector is placed as the probe sees it from the nearest place of its path.
  SimulatorConfiguration seen = source;
  seen.phantom = folded(source.phantom, motion_by(echoform::section<ScanSection>(configuration), 0.0),
                        frame_of(placed_probe(source)).origin);
  validate(seen, where);
  return source;
}

}  // namespace echoform
