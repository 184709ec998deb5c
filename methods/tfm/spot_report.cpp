// The part of a setup's report that follows from rays to pixels: how large a point appears, and which pixels no ray
// reaches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "acquisition/firings.hpp"
#include "acquisition/pair_rows.hpp"
#include "base/directions.hpp"
#include "methods/point_spread.hpp"
#include "methods/tfm/element_roles.hpp"
#include "methods/tfm/reached.hpp"
#include "methods/tfm/report_parts.hpp"
#include "stages/beamform/apodization.hpp"

namespace echoform {
namespace {

/// The pixel marked 1 that is nearest to a place of the grid. The place is given by shares of the grid's extents; in a volume it
/// lies in the middle of y.
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

/// "0.65 mm", with its direction if that differs by more than 5 degrees from `usual`.
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

namespace {

/// The values by which the beamformer weights the elements and events of a plan. Source k of a law is element k or event k of the
/// frame.
Aperture aperture_of(const ImagingPlan& plan, bool waves) {
  Aperture aperture{plan.acquisition.probe, {}, {}, plan.material.longitudinal_velocity, plan.apodization};
  if (!waves) return aperture;
  aperture.event_weights.assign(plan.acquisition.event_count(), 1.0F);
  const std::vector<std::uint32_t> events = chosen_or_all_events(plan.acquisition, plan.events);
  for (std::size_t k = 0; k < plan.event_weights.size(); ++k) aperture.event_weights[events[k]] = plan.event_weights[k];
  return aperture;
}

/// The amplitude that an element, as a piston, sends towards a pixel and receives from there. It is 1 where rays bend and the leg
/// does not state the angle at which they leave.
double sent(const Aperture& pistons, BeamformSide side, const Leg& leg, std::size_t source, const Point& pixel) {
  if (leg.departures() == nullptr && !leg.point_source(source)) return 1.0;
  float weight = 1.0F;
  beamform::element_weights(pistons, side, leg, source, 1.0, {&pixel, 1}, {&weight, 1});
  return static_cast<double>(weight);
}

/// Weights the rays of one side as the beamformer does, and by the amplitudes that elements send. Rays of weight 0 are left out.
void weigh(std::vector<SpotRay>& rays, const Aperture& aperture, BeamformSide side, const Leg& leg, const Point& pixel) {
  Aperture pistons = aperture;
  pistons.apodization = {};
  pistons.apodization.directivity = true;
  const bool waves = side == BeamformSide::transmit && !aperture.event_weights.empty();
  const std::vector<double> window = beamform::source_window(aperture, side, leg.sources());
  for (SpotRay& ray : rays) {
    if (!waves) ray.weight *= sent(pistons, side, leg, ray.source, pixel);
    if (window.empty()) continue;
    float weight = 0.0F;
    beamform::element_weights(aperture, side, leg, ray.source, window[ray.source], {&pixel, 1}, {&weight, 1});
    ray.weight *= static_cast<double>(weight);
  }
  std::erase_if(rays, [](const SpotRay& ray) { return !(ray.weight > 0.0); });
}

/// The transmit and the receive path of each received pair, as one ray.
std::vector<SpotRay> rays_of_pairs(const ImagingPlan& plan, const ViewRays& rays, bool waves) {
  const auto by_source = [](const std::vector<SpotRay>& side, std::size_t sources) {
    std::vector<const SpotRay*> found(sources, nullptr);
    for (const SpotRay& ray : side) found[ray.source] = &ray;
    return found;
  };
  const Acquisition& acquisition = plan.acquisition;
  const auto out = by_source(rays.transmit, waves ? acquisition.event_count() : acquisition.elements());
  const auto back = by_source(rays.back(), acquisition.elements());
  const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, plan.events);
  std::vector<SpotRay> pairs;
  for (const PairRun& run : received_pairs(acquisition, plan.events).lookups) {
    const std::uint32_t event = events[run.event];
    const SpotRay* const one = out[waves ? event : *firing_element(acquisition, event)];
    for (std::uint32_t receiver = run.receiver; one != nullptr && receiver < run.receiver + run.count; ++receiver) {
      const SpotRay* const other = back[receiver];
      if (other == nullptr) continue;
      const Direction& s = one->slowness;
      const Direction& r = other->slowness;
      pairs.push_back({{s.x + r.x, s.y + r.y, s.z + r.z}, one->weight * other->weight, event});
    }
  }
  return pairs;
}

}  // namespace

std::optional<ViewRays> rays_at(const ImagingPlan& plan, std::size_t view, const Point& pixel) {
  const DelayLaw& law = plan.laws[view];
  const Probe& probe = plan.acquisition.probe;
  double slowest = plan.material.longitudinal_velocity.value;
  if (plan.material.shear_velocity.value > 0.0) slowest = std::min(slowest, plan.material.shear_velocity.value);
  if (!(slowest > 0.0)) slowest = plan.material.shear_velocity.value;
  // A fiftieth of a wavelength: over this step rays hardly rotate, and times in single precision would be sufficient.
  const Metres step(0.02 * slowest / probe.centre_frequency.value);
  const ElementRoles living = living_roles(plan.acquisition, plan.events);
  const Aperture aperture = aperture_of(plan, living.waves);
  ViewRays rays;
  rays.transmit = rays_to(*law.transmit, living.transmit, pixel, step, space_of(plan));
  weigh(rays.transmit, aperture, BeamformSide::transmit, *law.transmit, pixel);
  rays.alike = law.reciprocal() && living.alike() && plan.apodization.symmetric();
  if (!rays.alike) {
    rays.receive = rays_to(*law.receive, living.receive, pixel, step, space_of(plan));
    weigh(rays.receive, aperture, BeamformSide::receive, *law.receive, pixel);
  }
  if (rays.transmit.empty() || rays.back().empty()) return std::nullopt;
  rays.slowest = std::max(length(rays.transmit.front().slowness), length(rays.back().front().slowness));
  if (few_are_received(plan.acquisition, plan.events)) {
    rays.transmit = rays_of_pairs(plan, rays, living.waves);
    rays.receive = {{{0.0, 0.0, 0.0}, 1.0, 0}};
    rays.alike = false;
    if (rays.transmit.empty()) return std::nullopt;
  }
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
  const Probe& probe = plan.acquisition.probe;
  const bool pulse_known = probe.bandwidth.value > 0.0;
  const auto spectrum = pulse_spectrum(probe.centre_frequency, probe.bandwidth, response_of(plan.filter));
  if (spectrum.empty()) return;
  const bool one_place =
      std::all_of(reach.begin(), reach.end(), [&](const ViewReach& view) { return view.middle == reach.front().middle; });
  const bool volume = space_of(plan) == RaySpace::volume;
  std::vector<std::string> lateral;
  std::vector<std::string> across;
  std::vector<std::string> axial;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    if (!reach[view].middle) continue;
    const std::string& name = plan.laws[view].view;
    const Point& at = *reach[view].middle;
    const auto rays = rays_at(plan, view, at);
    if (!rays) continue;
    const Spot spot = spot_of(rays->meeting(spectrum));
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
    if (volume) {
      const SpotWidth width = spot_of(rays->meeting(spectrum), SpreadPlane::across).lateral;
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
