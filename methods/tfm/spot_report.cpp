// What of a setup's report follows from rays to pixels: how large a point appears, and which pixels none reach.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/point_spread.hpp"
#include "methods/tfm/reached.hpp"
#include "methods/tfm/report_parts.hpp"

namespace echoform {
namespace {

/// The pixel of those with a 1 that is nearest to a place of the grid, given by shares of its extents; of a volume in the middle
/// across.
std::optional<Point> nearest_to(const Grid& grid, const std::vector<std::uint8_t>& reached, double x_share, double z_share) {
  const Metres x = grid.x.first + x_share * (grid.x.last - grid.x.first);
  const Metres y = grid.y.first + 0.5 * (grid.y.last - grid.y.first);
  const Metres z = grid.z.first + z_share * (grid.z.last - grid.z.first);
  std::optional<Point> nearest;
  double distance = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < reached.size(); ++k) {
    if (reached[k] == 0) continue;
    const Point pixel = grid.at(k);
    const double off = std::hypot((pixel.x - x).value, (pixel.y - y).value, (pixel.z - z).value);
    if (off >= distance) continue;
    nearest = pixel;
    distance = off;
  }
  return nearest;
}

/// "0.65 mm", with its direction where that is more than 5 degrees from `usual`.
std::string width_text(const SpotWidth& found, double usual) {
  const double off = std::abs(std::remainder(found.degrees - usual, 180.0));
  return (found.width ? fmt::format("{:.3g} mm", 1e3 * found.width->value) : std::string("unbounded")) +
         (off > 5.0 ? fmt::format(" along {:.0f} degrees", found.degrees) : "");
}

nlohmann::json value_of(const SpotWidth& found) {
  return found.width ? nlohmann::json(found.width->value) : nlohmann::json(nullptr);
}

}  // namespace

std::string place_text(const Point& at) {
  if (at.y.value == 0.0) return fmt::format("({:.4g}, {:.4g}) mm", 1e3 * at.x.value, 1e3 * at.z.value);
  return fmt::format("({:.4g}, {:.4g}, {:.4g}) mm", 1e3 * at.x.value, 1e3 * at.y.value, 1e3 * at.z.value);
}

std::optional<ViewRays> rays_at(const ImagingPlan& plan, const DelayLaw& law, const Point& pixel, SpreadPlane plane) {
  const Probe& probe = plan.acquisition.probe;
  double slowest = plan.material.longitudinal_velocity.value;
  if (plan.material.shear_velocity.value > 0.0) slowest = std::min(slowest, plan.material.shear_velocity.value);
  if (!(slowest > 0.0)) slowest = plan.material.shear_velocity.value;
  // A fiftieth of a wavelength: rays hardly turn on that way, and times of single precision would do.
  const Metres step(0.02 * slowest / probe.centre_frequency.value);
  const ElementRoles living = living_roles(plan.acquisition, plan.events);
  ViewRays rays;
  rays.transmit = slownesses_at(*law.transmit, living.transmit, pixel, step, plane);
  rays.alike = law.reciprocal() && living.alike();
  if (!rays.alike) rays.receive = slownesses_at(*law.receive, living.receive, pixel, step, plane);
  if (rays.transmit.empty() || rays.back().empty()) return std::nullopt;
  return rays;
}

std::vector<ViewReach> reach_of_views(const ImagingPlan& plan) {
  std::vector<ViewReach> found;
  for (std::size_t law = 0; law < plan.laws.size(); ++law) {
    const auto reached = reached_pixels(plan, law);
    ViewReach view{unreached_share(reached), nearest_to(plan.grid, reached, 0.5, 0.5), {}};
    for (const double z : {0.0, 0.5, 1.0}) {
      for (const double x : {0.0, 0.5, 1.0}) {
        const auto place = nearest_to(plan.grid, reached, x, z);
        if (place && std::find(view.places.begin(), view.places.end(), *place) == view.places.end())
          view.places.push_back(*place);
      }
    }
    found.push_back(std::move(view));
  }
  return found;
}

void report_spots(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach) {
  const bool pulse_known = plan.acquisition.probe.bandwidth.value > 0.0;
  const bool one_place =
      std::all_of(reach.begin(), reach.end(), [&](const ViewReach& view) { return view.middle == reach.front().middle; });
  const bool volume = plan.grid.y.count > 1;
  std::vector<std::string> lateral;
  std::vector<std::string> across;
  std::vector<std::string> axial;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    if (!reach[view].middle) continue;
    const std::string& name = plan.laws[view].view;
    const Point& at = *reach[view].middle;
    const auto rays = rays_at(plan, plan.laws[view], at);
    if (!rays) continue;
    const Probe& probe = plan.acquisition.probe;
    const Spot spot = spot_of(rays->transmit, rays->back(), probe.centre_frequency, probe.bandwidth);
    lateral.push_back(fmt::format("{} {}{}", name, width_text(spot.lateral, 0.0), one_place ? "" : " at " + place_text(at)));
    report.values["lateral_resolution"][name] = value_of(spot.lateral);
    report.values["lateral_degrees"][name] = spot.lateral.degrees;
    report.values["resolution_at"][name] = {at.x.value, at.z.value};
    if (spot.blind) {
      report.warnings.push_back(fmt::format(
          "view {} is nearly blind along {:.0f} degrees (from x towards z) at {}: what takes longer on the way out takes "
          "less on the way back",
          name, spot.axial.degrees, place_text(at)));
    }
    if (const auto aside = volume ? rays_at(plan, plan.laws[view], at, SpreadPlane::across) : std::nullopt) {
      const SpotWidth width = spot_of(aside->transmit, aside->back(), probe.centre_frequency, probe.bandwidth).lateral;
      across.push_back(fmt::format("{} {}", name, width_text(width, 0.0)));
      report.values["across_resolution"][name] = value_of(width);
    }
    if (!pulse_known) continue;
    axial.push_back(fmt::format("{} {}{}", name, width_text(spot.axial, 90.0), spot.blind ? " (nearly blind)" : ""));
    report.values["axial_resolution"][name] = value_of(spot.axial);
    report.values["axial_degrees"][name] = spot.axial.degrees;
  }
  if (lateral.empty()) return;
  report.row("lateral", fmt::format("{}; a point's width at -6 dB across the rays{}", fmt::join(lateral, ", "),
                                    one_place ? " at " + place_text(*reach.front().middle) : ""));
  if (!across.empty()) report.row("across", fmt::format("{}; the same along y", fmt::join(across, ", ")));
  report.row("axial", pulse_known ? fmt::format("{}; along them", fmt::join(axial, ", "))
                                  : "not known without the pulse's bandwidth ([probe] bandwidth)");
}

void report_unreached(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach) {
  std::vector<std::string> texts;
  std::vector<double> shares;
  for (std::size_t view = 0; view < reach.size(); ++view) {
    const double share = reach[view].unreached;
    shares.push_back(share);
    report.values["unreached"][plan.laws[view].view] = share;
    if (share > 0.0) texts.push_back(fmt::format("{} {:.3g} %", plan.laws[view].view, 100.0 * share));
  }
  report.row("unreached", texts.empty() ? "no pixel" : fmt::format("{} of the pixels: they stay dark", fmt::join(texts, ", ")));
  if (auto warning = unreached_warning(plan, shares)) report.warnings.push_back(std::move(*warning));
}

}  // namespace echoform
