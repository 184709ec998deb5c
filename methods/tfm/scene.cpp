#include "methods/tfm/scene.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "base/errors.hpp"
#include "delay_laws/ray_leg.hpp"
#include "delay_laws/view.hpp"
#include "delay_laws/view_kind.hpp"
#include "methods/array_shape.hpp"
#include "methods/tfm/plan_warnings.hpp"
#include "methods/tfm/reached.hpp"
#include "methods/tfm/section.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

std::string in_mm(Metres x, Metres z) {
  return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * x.value, 1e3 * z.value);
}

/// How far planes extend on either side of x = 0.
Metres reach_of(const ImagingSettings& settings, const Probe& probe) {
  double reach = 0.25;
  const auto hold = [&](Metres value) { reach = std::max(reach, std::abs(value.value)); };
  for (const auto& ends : {settings.grid.x, settings.grid.y, settings.grid.z}) {
    if (ends) std::for_each(ends->begin(), ends->end(), hold);
  }
  for (const auto& value : {settings.probe.x, settings.probe.stand_off}) {
    if (value) hold(*value);
  }
  for (const Element& element : probe.elements) {
    hold(element.centre.x);
    hold(element.centre.y);
    hold(element.centre.z);
  }
  return Metres(2.0 * reach);
}

MadeSurface surface_of(const ImagingSettings& settings, const SurfaceSection& section, std::string_view key, Metres reach) {
  const std::string where = settings.place(key);
  if (section.kind.empty()) {
    if (section.numbers.empty() && section.words.empty()) return {};
    const std::string& name = section.numbers.empty() ? section.words.begin()->first : section.numbers.begin()->first;
    throw InputError(fmt::format("{} kind", where), fmt::format("no value beside {}", name),
                     "the kind of surface that it describes");
  }
  return make_any_surface({where, section.kind, section.numbers, section.words, reach});
}

/// The heights above the front surface of the element nearest to the part and of the farthest one.
struct Heights {
  double lowest = 0.0;
  double highest = 0.0;
};

Heights heights_of(const Probe& probe, const Scene& scene) {
  Heights heights{.lowest = std::numeric_limits<double>::infinity()};
  for (const Element& element : probe.elements) {
    const double height = -scene.below_front(element.centre);
    heights.lowest = std::min(heights.lowest, height);
    heights.highest = std::max(heights.highest, height);
  }
  return heights;
}

/// Whether elements stand farther than `limit` from the line between the ends of the array, in the plane of the image.
bool is_curved(const Probe& probe, double limit) {
  const std::vector<ArrayRow> rows = array_rows(probe, std::vector<bool>(probe.elements.size(), true));
  const Vector2 begin = rows.front().at;
  const Vector2 along{rows.back().at.x - begin.x, rows.back().at.z - begin.z};
  const double length = std::hypot(along.x, along.z);
  if (!(length > 0.0)) return false;
  return std::ranges::any_of(rows, [&](const ArrayRow& row) {
    return std::abs(along.x * (row.at.z - begin.z) - along.z * (row.at.x - begin.x)) > limit * length;
  });
}

std::string ends_in_mm(const Axis& axis) {
  return fmt::format("[{:.4g}, {:.4g}] mm", 1e3 * axis.first.value, 1e3 * axis.last.value);
}

/// A warning if a large part of the grid lies outside of the part.
std::optional<std::string> above_front_warning(const ImagingSettings& settings, const Grid& grid, const Scene& scene) {
  const std::vector<Point> pixels = some_pixels(grid);
  const auto above = std::ranges::count_if(pixels, [&](const Point& pixel) { return scene.below_front(pixel) < 0.0; });
  const double share = static_cast<double>(above) / static_cast<double>(pixels.size());
  if (share < unreached_worth_saying) return std::nullopt;
  std::string guess;
  if (grid.x.first.value >= 0.0 && grid.z.first.value < 0.0 && grid.z.last.value > 0.0) {
    guess = fmt::format("; are x and z swapped, for x = {} and z = {}?", ends_in_mm(grid.z), ends_in_mm(grid.x));
  } else if (grid.z.last.value <= 0.0) {
    guess = fmt::format("; z = [{:.4g}, {:.4g}] mm?", -1e3 * grid.z.last.value, -1e3 * grid.z.first.value);
  }
  return fmt::format("{} = {}: {:.0f} % of the pixels lie above the front surface, where nothing is; z counts into the part{}",
                     settings.place("[grid] z"), ends_in_mm(grid.z), 100.0 * share, guess);
}

bool skips(const ImagingSettings& settings) {
  return std::any_of(tfm(settings).views.begin(), tfm(settings).views.end(),
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

[[noreturn]] void refuse_element(const ImagingSettings& settings, std::size_t element, const std::string& place, double below,
                                 std::string_view what) {
  throw InputError(settings.place("[probe] stand_off"),
                   fmt::format("element {} at {}, {:.3g} mm below {}", element, place, 1e3 * below, what),
                   fmt::format("a probe above {}, by stand_off, angle and x or by where the surface lies", what));
}

[[noreturn]] void refuse_between(const ImagingSettings& settings, std::size_t element, std::string_view what) {
  throw InputError(settings.place("[probe] stand_off"), fmt::format("{} between elements {} and {}", what, element - 1, element),
                   fmt::format("a probe above {}", what));
}

void check_above(const ImagingSettings& settings, const Probe& probe, const Surface& surface, std::string_view what) {
  for (std::size_t i = 0; i < probe.elements.size(); ++i) {
    for (const Vector2 at : places_of(probe.elements[i])) {
      const double below = surface.signed_distance(at);
      if (!(below < 0.0)) refuse_element(settings, i, in_mm(Metres(at.x), Metres(at.z)), below, what);
    }
    if (i == 0 || !surface.crosses(plain(probe.elements[i - 1].centre), plain(probe.elements[i].centre))) continue;
    refuse_between(settings, i, what);
  }
}

void check_above(const ImagingSettings& settings, const Probe& probe, const SpatialSurface& surface, std::string_view what) {
  for (std::size_t i = 0; i < probe.elements.size(); ++i) {
    const Vector3 centre = vector_of(probe.elements[i].centre);
    for (const Vector2 end : places_of(probe.elements[i])) {
      const Vector3 at{end.x, centre.y, end.z};
      const double below = surface.signed_distance(at);
      if (below < 0.0) continue;
      refuse_element(settings, i, fmt::format("({:.4g}, {:.4g}, {:.4g}) mm", 1e3 * at.x, 1e3 * at.y, 1e3 * at.z), below, what);
    }
    if (i > 0 && meets(surface, vector_of(probe.elements[i - 1].centre), centre)) refuse_between(settings, i, what);
  }
}

/// The depth at which the front surface lies below a place above it, within `farthest`. A step as long as the distance is always
/// free.
std::optional<double> depth_of_front(const Scene& scene, Vector3 above, double farthest) {
  double far = 0.0;
  for (int step = 0; step < 4096 && far <= farthest; ++step) {
    const double outside = -scene.below_front(point_of(above + Vector3{0.0, 0.0, far}));
    if (outside <= 1e-9) return above.z + far;
    far += outside;
  }
  return std::nullopt;
}

/// Checks the backwall in three dimensions at some columns of the grid. A backwall seen from above is checked by its depth; that
/// of a hollow, seen from within, by where the front surface lies beyond it.
void check_below_front(const ImagingSettings& settings, const Grid& grid, const Scene& scene) {
  constexpr int columns = 16;
  constexpr double touches = 1e-6;  // m
  const SpatialSurface& backwall = *scene.spatial_backwall;
  const double top = std::min(0.0, grid.z.first.value) - 1.0;
  const double bottom = grid.z.last.value + 1.0;
  const auto refuse = [&](Vector3 at) {
    throw InputError(settings.place("[backwall]"),
                     fmt::format("a place above the front surface, at {}", in_mm(Metres(at.x), Metres(at.z))),
                     "a backwall below the front surface");
  };
  for (int k = 0; k < columns * columns; ++k) {
    const auto along = [](const Axis& axis, int part) {
      return axis.first.value + (axis.last - axis.first).value * part / (columns - 1);
    };
    const Vector3 from{along(grid.x, k % columns), along(grid.y, k / columns), top};
    if (const auto depth = way_into(backwall, from, {0.0, 0.0, 1.0}, bottom - top)) {
      const Vector3 at = from + *depth * Vector3{0.0, 0.0, 1.0};
      if (!(scene.below_front(point_of(at)) > 0.0)) refuse(at);
    }
    const auto front = depth_of_front(scene, from, bottom - top);
    if (!front || !(backwall.signed_distance({from.x, from.y, *front}) > touches)) continue;
    // It is no fault if a column lies beside a hollow whose edge lies in the part.
    const Vector3 nearest = backwall.foot({from.x, from.y, *front}).at;
    if (!(scene.below_front(point_of(nearest)) > 0.0)) refuse(nearest);
  }
}

}  // namespace

Scene make_scene(const ImagingSettings& settings, const Probe& probe) {
  const Metres reach = reach_of(settings, probe);
  Scene scene;
  scene.couplant = settings.couplant.velocity.value_or(MetresPerSecond(0.0));
  MadeSurface front = surface_of(settings, settings.surface, "[surface]", reach);
  scene.surface = std::move(front.curve);
  scene.spatial_surface = std::move(front.spatial);
  MadeSurface back = surface_of(settings, settings.backwall, "[backwall]", reach);
  scene.backwall = std::move(back.curve);
  scene.spatial_backwall = std::move(back.spatial);
  const bool has_front = scene.surface != nullptr || scene.spatial_surface != nullptr;
  if (!has_front && (scene.couplant.value > 0.0 || scene.has_backwall())) {
    scene.surface = make_surface({settings.place("[surface]"), "plane", {}, {}, reach});
  }
  return scene;
}

void check_depth_is_told(const ImagingSettings& settings) {
  const bool bent = settings.couplant.velocity || !settings.surface.kind.empty();
  const auto& views = tfm(settings).views;
  const bool named = std::any_of(views.begin(), views.end(), [](const auto& view) { return find_view_kind(view) != nullptr; });
  if (!bent && !skips(settings) && !named) return;
  throw InputError(settings.place("[grid] z"), "no value",
                   fmt::format("z = [first, last] in m: with {}, the gate does not tell the depth",
                               named ? "a view that modes do not name" : "a couplant, a surface or a view that skips"));
}

void check_geometry(const ImagingSettings& settings, const ImagingPlan& plan, const Scene& scene) {
  const Probe& probe = plan.acquisition.probe;
  if (scene.couplant.value > 0.0) {
    if (scene.spatial_surface != nullptr) {
      check_above(settings, probe, *scene.spatial_surface, "the front surface");
    } else {
      check_above(settings, probe, *scene.surface, "the front surface");
    }
  }
  if (scene.backwall != nullptr) {
    check_above(settings, probe, *scene.backwall, "the backwall");
    for (const SurfaceNode& node : scene.backwall->nodes()) {
      const bool beside = node.at.x < plan.grid.x.first.value || node.at.x > plan.grid.x.last.value;
      if (beside || scene.below_front({Metres(node.at.x), plan.grid.y.first, Metres(node.at.z)}) > 0.0) continue;
      throw InputError(settings.place("[backwall]"),
                       fmt::format("a place above the front surface, at {}", in_mm(Metres(node.at.x), Metres(node.at.z))),
                       "a backwall below the front surface");
    }
  }
  if (scene.spatial_backwall != nullptr) {
    check_above(settings, probe, *scene.spatial_backwall, "the backwall");
    check_below_front(settings, plan.grid, scene);
  }
  if (!plan.apodization.angular()) return;
  const auto silent = [&](const Leg& leg) { return leg.table_bytes(plan.grid) > 0 && leg.departures() == nullptr; };
  // Waves of several elements are weighted by event.
  const bool waves = launches_waves(plan.acquisition);
  for (const DelayLaw& law : plan.laws) {
    if ((waves || !silent(*law.transmit)) && !silent(*law.receive)) continue;
    throw InputError(
        settings.place(plan.apodization.directivity ? "[apodization] directivity" : "[apodization] angle_limit"),
        fmt::format("weights by angle, for view \"{}\" of [imaging] delay_law = \"{}\"", law.view, tfm(settings).delay_law),
        "a law that says at which angles waves leave the elements, or no such weights");
  }
}

std::vector<std::string> geometry_warnings(const ImagingSettings& settings, const ImagingPlan& plan, const Scene& scene) {
  std::vector<std::string> lines;
  if (auto line = above_front_warning(settings, plan.grid, scene)) lines.push_back(std::move(*line));
  if (tfm(settings).travel_times == TravelTimes::interpolated && plan.grid.y.count > 1) {
    lines.push_back(fmt::format("{}: \"interpolated\" is not used: of a volume every element and pixel has its ray",
                                settings.place("[imaging] travel_times")));
  } else if (tfm(settings).travel_times == TravelTimes::interpolated && scene.spatial_surface != nullptr) {
    lines.push_back(
        fmt::format("{}: \"interpolated\" is not used: below a surface in three dimensions every element and pixel has "
                    "its ray",
                    settings.place("[imaging] travel_times")));
  } else if (tfm(settings).travel_times == TravelTimes::interpolated && scene.spatial_backwall != nullptr && skips(settings)) {
    lines.push_back(
        fmt::format("{}: \"interpolated\" is not used by views that skip: above a backwall in three dimensions every element and "
                    "pixel has its ray",
                    settings.place("[imaging] travel_times")));
  }
  if (tfm(settings).delay_law != "contact") return lines;
  const auto& views = tfm(settings).views;
  const bool named = std::any_of(views.begin(), views.end(), [](const auto& view) { return find_view_kind(view) != nullptr; });
  if (!settings.surface.kind.empty() && !named && !skips(settings)) {
    lines.push_back(
        fmt::format("{}: \"{}\" is not used: with delay_law = \"contact\" only views that skip meet the front surface; set "
                    "[imaging] delay_law "
                    "= \"immersion\" and [couplant] velocity, or leave out [surface]",
                    settings.place("[surface] kind"), settings.surface.kind));
  }
  const double frequency = plan.acquisition.probe.centre_frequency.value;
  const double velocity = plan.material.longitudinal_velocity.value;
  // A tenth of the wavelength; where it is not known, that in steel at 6 MHz.
  const double limit = frequency > 0.0 && velocity > 0.0 ? 0.1 * velocity / frequency : 1e-4;
  const Heights heights = heights_of(plan.acquisition.probe, scene);
  // A part under a curved array that touches it is assumed to follow the array's shape.
  const double height = heights.lowest <= limit && is_curved(plan.acquisition.probe, limit) ? 0.0 : heights.highest;
  if (!(height > limit)) return lines;
  const ProbeSection& probe = settings.probe;
  const std::string where = probe.stand_off ? settings.place("[probe] stand_off")
                            : probe.angle   ? settings.place("[probe] angle and the placement of the data")
                                            : fmt::format("{}: the placement of the data", settings.name());
  lines.push_back(
      fmt::format("{}: elements lie up to {:.3g} mm above the front surface, and with delay_law = \"contact\" rays go through "
                  "that as if it were part; set [imaging] delay_law = \"immersion\" and [couplant] velocity, or put the probe on "
                  "the part",
                  where, 1e3 * height));
  return lines;
}

void tabulate_legs(const ImagingSettings& settings, ImagingPlan& plan) {
  const auto has_table = [&](const DelayLaw& law) {
    return law.transmit->table_bytes(plan.grid) > 0 || law.receive->table_bytes(plan.grid) > 0;
  };
  const bool interpolated =
      tfm(settings).travel_times == TravelTimes::interpolated && std::any_of(plan.laws.begin(), plan.laws.end(), has_table);
  const double frequency = plan.acquisition.probe.centre_frequency.value;
  if (interpolated && !(frequency > 0.0)) {
    throw InputError(settings.place("[imaging] travel_times"), "\"interpolated\", and a probe of unknown centre frequency",
                     "[probe] centre_frequency, of whose period times stay within a hundredth, or \"exact\"");
  }
  const Seconds tolerance(interpolated ? 0.005 / frequency : 0.0);
  std::map<const Leg*, std::shared_ptr<const Leg>> tables;
  const std::function<void(std::shared_ptr<const Leg>&)> take = [&](std::shared_ptr<const Leg>& leg) {
    const auto [place, is_new] = tables.try_emplace(leg.get());
    if (is_new) {
      const std::size_t threads = settings.imaging.threads;
      if (std::shared_ptr<const Leg> elements = leg->of_elements()) {
        // The other side may use the same table.
        if (leg->table_bytes(plan.grid) > 0) take(elements);
        place->second = leg->tabulated_over(*elements, plan.grid, threads);
      } else {
        place->second = leg->tabulated(plan.grid, threads, tolerance, plan.apodization.angular());
      }
    }
    // Both legs of a reciprocal law, and of mirrored views, remain one object.
    if (place->second != nullptr) leg = place->second;
  };
  for (DelayLaw& law : plan.laws) {
    take(law.transmit);
    take(law.receive);
  }
}

void check_reach(const ImagingSettings& settings, const ImagingPlan& plan, const Scene& scene) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < plan.laws.size(); ++k) {
    const DelayLaw& law = plan.laws[k];
    if (law.transmit->table_bytes(plan.grid) == 0 && law.receive->table_bytes(plan.grid) == 0) continue;
    if (reaches_any_pixel(plan, k)) continue;
    if (points.empty()) points = plan.grid.points();
    std::vector<PartSide> sides(points.size());
    const bool skip = names_skip(law.view);
    PartBounds{scene.surface, skip ? scene.backwall : nullptr, scene.spatial_surface, skip ? scene.spatial_backwall : nullptr}
        .sides(points, sides);
    if (std::ranges::all_of(sides, [](PartSide side) { return side == PartSide::outside; })) {
      throw InputError(settings.place("[grid]"), fmt::format("no pixel in the part, for view \"{}\"", law.view),
                       skip ? "pixels between the front surface and the backwall" : "pixels below the front surface");
    }
    throw InputError(settings.place("[imaging] views"),
                     fmt::format("\"{}\", of which no ray reaches any pixel from any element", law.view),
                     "a probe, surfaces and a grid with rays between them: not beyond the critical angle, in shadow or off the "
                     "surfaces' ends");
  }
}

}  // namespace echoform
