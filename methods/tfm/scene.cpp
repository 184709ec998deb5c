#include "methods/tfm/scene.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "base/errors.hpp"
#include "delay_laws/ray_leg.hpp"
#include "delay_laws/view.hpp"
#include "delay_laws/view_kind.hpp"
#include "methods/tfm/reached.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

std::string place_text(const Configuration& configuration, std::string_view key) {
  return fmt::format("{}: {}", configuration.name(), key);
}

std::string in_mm(Metres x, Metres z) {
  return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * x.value, 1e3 * z.value);
}

/// How far planes are made to reach on either side of x = 0.
Metres reach_of(const Configuration& configuration, const Probe& probe) {
  double reach = 0.25;
  const auto hold = [&](Metres value) { reach = std::max(reach, std::abs(value.value)); };
  for (const auto& ends : {configuration.grid.x, configuration.grid.z}) {
    if (ends) std::for_each(ends->begin(), ends->end(), hold);
  }
  for (const auto& value : {configuration.probe.x, configuration.probe.stand_off}) {
    if (value) hold(*value);
  }
  for (const Element& element : probe.elements) {
    hold(element.centre.x);
    hold(element.centre.z);
  }
  return Metres(2.0 * reach);
}

std::shared_ptr<const Surface> surface_of(const Configuration& configuration, const SurfaceSection& section, std::string_view key,
                                          Metres reach) {
  const std::string where = place_text(configuration, key);
  if (section.kind.empty()) {
    if (section.numbers.empty() && section.words.empty()) return nullptr;
    const std::string& name = section.numbers.empty() ? section.words.begin()->first : section.numbers.begin()->first;
    throw InputError(fmt::format("{} kind", where), fmt::format("no value beside {}", name),
                     "the kind of surface that it describes");
  }
  return make_surface({where, section.kind, section.numbers, section.words, reach});
}

bool skips(const Configuration& configuration) {
  return std::any_of(configuration.imaging.views.begin(), configuration.imaging.views.end(),
                     [](const std::string& view) { return names_skip(view); });
}

Vector2 plain(const Point& point) {
  return {point.x.value, point.z.value};
}

/// Both ends and the centre of an element.
std::vector<Vector2> places_of(const Element& element) {
  const Vector2 centre = plain(element.centre);
  const double long_normal = std::hypot(element.normal.x, element.normal.z);
  const Vector2 along = (0.5 * element.width.value / long_normal) * Vector2{element.normal.z, -element.normal.x};
  return {centre - along, centre, centre + along};
}

void check_above(const Configuration& configuration, const Probe& probe, const Surface& surface, std::string_view what) {
  for (std::size_t i = 0; i < probe.elements.size(); ++i) {
    for (const Vector2 at : places_of(probe.elements[i])) {
      const double below = surface.signed_distance(at);
      if (below < 0.0) continue;
      throw InputError(
          place_text(configuration, "[probe] stand_off"),
          fmt::format("element {} at {}, {:.3g} mm below {}", i, in_mm(Metres(at.x), Metres(at.z)), 1e3 * below, what),
          fmt::format("a probe above {}, by stand_off, angle and x or by where the surface lies", what));
    }
    if (i == 0 || !surface.crosses(plain(probe.elements[i - 1].centre), plain(probe.elements[i].centre))) continue;
    throw InputError(place_text(configuration, "[probe] stand_off"), fmt::format("{} between elements {} and {}", what, i - 1, i),
                     fmt::format("a probe above {}", what));
  }
}

/// Degrees by which the line from the first element to the last is turned from x towards z; that of one element by its normal.
double tilt_of(const Probe& probe) {
  const Vector2 line = plain(probe.elements.back().centre) - plain(probe.elements.front().centre);
  const Direction& normal = probe.elements.front().normal;
  const Vector2 along = line == Vector2{} ? Vector2{normal.z, -normal.x} : line;
  // Elements may be counted from either end.
  const double degrees =
      (along.x < 0.0 ? std::atan2(-along.z, -along.x) : std::atan2(along.z, along.x)) * 180.0 / std::numbers::pi;
  // What rounding leaves of 0.
  return std::abs(degrees) < 1e-9 ? 0.0 : degrees;
}

}  // namespace

Scene make_scene(const Configuration& configuration, const Probe& probe) {
  const Metres reach = reach_of(configuration, probe);
  Scene scene;
  scene.couplant = configuration.couplant.velocity.value_or(MetresPerSecond(0.0));
  scene.surface = surface_of(configuration, configuration.surface, "[surface]", reach);
  scene.backwall = surface_of(configuration, configuration.backwall, "[backwall]", reach);
  if (scene.surface == nullptr && (scene.couplant.value > 0.0 || scene.backwall != nullptr)) {
    scene.surface = make_surface({place_text(configuration, "[surface]"), "plane", {}, {}, reach});
  }
  return scene;
}

void adopt_wedge_velocity(Configuration& configuration, MetresPerSecond stated) {
  if (configuration.imaging.delay_law != "immersion" || configuration.couplant.velocity || !(stated.value > 0.0)) return;
  // As the key's own bound: what is slower was written in another unit.
  if (stated.value < 10.0) {
    throw InputError(place_text(configuration, "[couplant] velocity"),
                     fmt::format("no value, and {:g} m/s for the recording's wedge", stated.value),
                     "a velocity of at least 10 m/s");
  }
  configuration.couplant.velocity = stated;
  spdlog::info("{}: {:g} m/s of the recording's wedge", place_text(configuration, "[couplant] velocity"), stated.value);
}

void place_probe(const ProbeSection& section, Probe& probe,
                 const std::function<void(std::string_view key, const std::string& value, const std::string& does)>& note) {
  if (probe.elements.empty() || (!section.stand_off && !section.angle && !section.x)) return;
  const Point& first = probe.elements.front().centre;
  const Point& last = probe.elements.back().centre;
  const Metres x = 0.5 * (first.x + last.x);
  const Metres z = 0.5 * (first.z + last.z);
  const Metres new_x = section.x.value_or(x);
  const Metres new_z = section.stand_off ? -*section.stand_off : z;
  const double before = tilt_of(probe);
  const double angle = section.angle.value_or(0.0) * std::numbers::pi / 180.0;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (Element& element : probe.elements) {
    const Metres dx = element.centre.x - x;
    const Metres dz = element.centre.z - z;
    element.centre.x = new_x + c * dx - s * dz;
    element.centre.z = new_z + s * dx + c * dz;
    const Direction normal = element.normal;
    element.normal.x = c * normal.x - s * normal.z;
    element.normal.z = s * normal.x + c * normal.z;
  }
  const std::string replaces = "replaces the placement of the data";
  if (section.stand_off) note("stand_off", fmt::format("{:g} mm", 1e3 * section.stand_off->value), replaces);
  if (section.angle) {
    const double value = *section.angle;
    note("angle", fmt::format("{:g} degrees", value),
         fmt::format("turns the data's {:.4g} degrees by {:g} degrees, to {:.4g} degrees", before, value, before + value));
  }
  if (section.x) note("x", fmt::format("{:g} mm", 1e3 * section.x->value), replaces);
}

void check_depth_is_told(const Configuration& configuration) {
  const bool bent = configuration.couplant.velocity || !configuration.surface.kind.empty();
  const auto& views = configuration.imaging.views;
  const bool named = std::any_of(views.begin(), views.end(), [](const auto& view) { return find_view_kind(view) != nullptr; });
  if (!bent && !skips(configuration) && !named) return;
  throw InputError(place_text(configuration, "[grid] z"), "no value",
                   fmt::format("z = [first, last] in m: with {}, the gate does not tell the depth",
                               named ? "a view that modes do not name" : "a couplant, a surface or a view that skips"));
}

void check_geometry(const Configuration& configuration, const ImagingPlan& plan, const Scene& scene) {
  const Probe& probe = plan.acquisition.probe;
  if (scene.couplant.value > 0.0) check_above(configuration, probe, *scene.surface, "the front surface");
  if (scene.backwall != nullptr) {
    check_above(configuration, probe, *scene.backwall, "the backwall");
    for (const SurfaceNode& node : scene.backwall->nodes()) {
      const bool beside = node.at.x < plan.grid.x.first.value || node.at.x > plan.grid.x.last.value;
      if (beside || scene.surface->signed_distance(node.at) > 0.0) continue;
      throw InputError(place_text(configuration, "[backwall]"),
                       fmt::format("a place above the front surface, at {}", in_mm(Metres(node.at.x), Metres(node.at.z))),
                       "a backwall below the front surface");
    }
  }
  if (!plan.apodization.angular()) return;
  const auto silent = [&](const Leg& leg) { return leg.table_bytes(plan.grid) > 0 && leg.departures() == nullptr; };
  for (const DelayLaw& law : plan.laws) {
    if (!silent(*law.transmit) && !silent(*law.receive)) continue;
    throw InputError(
        place_text(configuration, plan.apodization.directivity ? "[apodization] directivity" : "[apodization] angle_limit"),
        fmt::format("weights by angle, for view \"{}\" of [imaging] delay_law = \"{}\"", law.view,
                    configuration.imaging.delay_law),
        "a law that says at which angles waves leave the elements, or no such weights");
  }
}

std::vector<std::string> unheeded_geometry(const Configuration& configuration, const ImagingPlan& plan, const Scene& scene) {
  std::vector<std::string> lines;
  if (configuration.imaging.delay_law != "contact") return lines;
  const auto& views = configuration.imaging.views;
  const bool named = std::any_of(views.begin(), views.end(), [](const auto& view) { return find_view_kind(view) != nullptr; });
  if (!configuration.surface.kind.empty() && !named && !skips(configuration)) {
    lines.push_back(
        fmt::format("{}: \"{}\" is not used: with delay_law = \"contact\" only views that skip meet the front surface; set "
                    "[imaging] delay_law "
                    "= \"immersion\" and [couplant] velocity, or leave out [surface]",
                    place_text(configuration, "[surface] kind"), configuration.surface.kind));
  }
  double height = 0.0;
  for (const Element& element : plan.acquisition.probe.elements) {
    const Vector2 at = plain(element.centre);
    height = std::max(height, scene.surface != nullptr ? -scene.surface->signed_distance(at) : -at.z);
  }
  const double frequency = plan.acquisition.probe.centre_frequency.value;
  const double velocity = plan.material.longitudinal_velocity.value;
  // A tenth of the wavelength, in steel at 6 MHz where it is not known.
  const double limit = frequency > 0.0 && velocity > 0.0 ? 0.1 * velocity / frequency : 1e-4;
  if (!(height > limit)) return lines;
  const ProbeSection& probe = configuration.probe;
  const std::string where = probe.stand_off ? place_text(configuration, "[probe] stand_off")
                            : probe.angle   ? place_text(configuration, "[probe] angle and the placement of the data")
                                            : fmt::format("{}: the placement of the data", configuration.name());
  lines.push_back(
      fmt::format("{}: elements lie up to {:.3g} mm above the front surface, and with delay_law = \"contact\" rays go through "
                  "that as if it were part; set [imaging] delay_law = \"immersion\" and [couplant] velocity, or put the probe on "
                  "the part",
                  where, 1e3 * height));
  return lines;
}

void tabulate_legs(const Configuration& configuration, ImagingPlan& plan) {
  const auto has_table = [&](const DelayLaw& law) {
    return law.transmit->table_bytes(plan.grid) > 0 || law.receive->table_bytes(plan.grid) > 0;
  };
  const bool interpolated = configuration.imaging.travel_times == TravelTimes::interpolated &&
                            std::any_of(plan.laws.begin(), plan.laws.end(), has_table);
  const double frequency = plan.acquisition.probe.centre_frequency.value;
  if (interpolated && !(frequency > 0.0)) {
    throw InputError(place_text(configuration, "[imaging] travel_times"),
                     "\"interpolated\", and a probe of unknown centre frequency",
                     "[probe] centre_frequency, of whose period times stay within a hundredth, or \"exact\"");
  }
  const Seconds tolerance(interpolated ? 0.005 / frequency : 0.0);
  std::map<const Leg*, std::shared_ptr<const Leg>> tables;
  const auto take = [&](std::shared_ptr<const Leg>& leg) {
    const auto [place, is_new] = tables.try_emplace(leg.get());
    if (is_new) place->second = leg->tabulated(plan.grid, configuration.imaging.threads, tolerance, plan.apodization.angular());
    // Both legs of a reciprocal law, and of mirrored views, stay one.
    if (place->second != nullptr) leg = place->second;
  };
  for (DelayLaw& law : plan.laws) {
    take(law.transmit);
    take(law.receive);
  }
}

void check_reach(const Configuration& configuration, const ImagingPlan& plan, const Scene& scene) {
  std::vector<Point> points;
  for (const DelayLaw& law : plan.laws) {
    if (law.transmit->table_bytes(plan.grid) == 0 && law.receive->table_bytes(plan.grid) == 0) continue;
    if (reaches_any_pixel(law, plan.acquisition.probe, plan.grid)) continue;
    if (points.empty()) points = plan.grid.points();
    std::vector<std::uint8_t> inside(points.size());
    const bool skip = names_skip(law.view);
    PartBounds{scene.surface, skip ? scene.backwall : nullptr}.holds(points, inside);
    if (std::find(inside.begin(), inside.end(), 1) == inside.end()) {
      throw InputError(place_text(configuration, "[grid]"), fmt::format("no pixel in the part, for view \"{}\"", law.view),
                       skip ? "pixels between the front surface and the backwall" : "pixels below the front surface");
    }
    throw InputError(place_text(configuration, "[imaging] views"),
                     fmt::format("\"{}\", of which no ray reaches any pixel from any element", law.view),
                     "a probe, surfaces and a grid with rays between them: not beyond the critical angle, in shadow or off the "
                     "surfaces' ends");
  }
}

}  // namespace echoform
