// Parts of the report that are files of their own, and what they have in common.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "methods/array_shape.hpp"
#include "methods/point_spread.hpp"
#include "methods/tfm/report.hpp"

namespace echoform {

struct ReportedMode {
  char letter;
  MetresPerSecond velocity;
  bool used;  ///< by a view
};

/// What a view's rays reach.
struct ViewReach {
  double unreached = 0.0;       ///< share of the pixels
  std::optional<Point> middle;  ///< the reached pixel nearest to the grid's centre
  std::vector<Point> places;  ///< those nearest to its corners, edges' middles and centre: up to 9, none where there is no pixel
};

/// A view's rays at a pixel, on either side those of the living elements that stand on it, weighted as they are in the image and
/// by the elements' directivity, so far as it is known at what angle rays leave them; some weight of either side is above 0.
/// Where few of the pairs were received, the way out of each pair and its way back are one ray of `transmit`, and `receive` is
/// one of no slowness.
struct ViewRays {
  std::vector<SpotRay> transmit;
  std::vector<SpotRay> receive;  ///< empty where they are those of transmit
  bool alike = false;
  double slowest = 0.0;  ///< s/m, of a way

  [[nodiscard]] const std::vector<SpotRay>& back() const { return alike ? transmit : receive; }
  [[nodiscard]] Meeting meeting(const std::vector<SpectralLine>& spectrum) const { return {transmit, back(), spectrum}; }
};
/// Nothing where the rays around it do not tell. Expects a centre frequency above 0.
[[nodiscard]] std::optional<ViewRays> rays_at(const ImagingPlan& plan, std::size_t view, const Point& pixel);

/// Whether the image is a volume.
[[nodiscard]] inline RaySpace space_of(const ImagingPlan& plan) {
  return plan.grid.y.count > 1 ? RaySpace::volume : RaySpace::plane;
}

[[nodiscard]] std::string place_text(const Point& at);

[[nodiscard]] inline std::string mm(Metres length) {
  return fmt::format("{:.4g} mm", 1e3 * length.value);
}

/// Of two axes, or of one.
[[nodiscard]] inline std::string mm(Metres along, Metres across) {
  return across.value > 0.0 ? fmt::format("{:.4g} x {:.4g} mm", 1e3 * along.value, 1e3 * across.value) : mm(along);
}

/// One text for all modes: "L 1.264 mm, T 0.626 mm".
template <class Text>
std::string for_modes(const std::vector<ReportedMode>& modes, Text&& text) {
  std::string all;
  for (const ReportedMode& mode : modes) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", mode.letter, text(mode));
  return all;
}

/// By view of the plan.
[[nodiscard]] std::vector<ViewReach> reach_of_views(const ImagingPlan& plan);

/// Lines "lateral" and "axial": the spot of a point at each view's middle, with the filter and the weights that the image has.
void report_spots(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Line "coarsest": the coarsest pixels that keep the amplitude of a point, at that of each view's places where they are finest.
void report_pixels(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Lines "events", "angle set" and "frames" where events are listed or chosen: what they are, the lobes of a set of plane waves
/// (first at 1 / (f ds) for steps ds of their slownesses), how many would do, and what sound and wire allow.
void report_events(SetupReport& report, const ImagingPlan& plan);

/// Line "unreached".
void report_unreached(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Line "pitch": grating lobes, in the part where elements lie on it, else from the couplant into it. Where not every element
/// fires, those of the elements that record, and line "firing": of those that fire.
void report_lobes(SetupReport& report, const ImagingPlan& plan, const std::vector<ReportedMode>& modes,
                  const std::vector<ViewReach>& reach);

}  // namespace echoform
