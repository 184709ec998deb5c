// Parts of the report that have source files of their own, and what they share.
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

/// A view's rays at a pixel. Each side has the rays of the living elements (or of the events) that are its sources. They are
/// weighted as in the image and by the elements' directivity, as far as the angle at which rays leave the elements is known.
/// Rays of weight 0 are left out; each side has at least one. Where few of the pairs were received, the path out and the
/// path back of each pair form one ray of `transmit`, and `receive` has a single ray of slowness 0.
struct ViewRays {
  std::vector<SpotRay> transmit;
  std::vector<SpotRay> receive;  ///< empty where `alike`: then they equal `transmit`
  bool alike = false;
  double slowest = 0.0;  ///< s/m, the larger slowness of the path out and the path back

  [[nodiscard]] const std::vector<SpotRay>& back() const { return alike ? transmit : receive; }
  [[nodiscard]] Meeting meeting(const std::vector<SpectralLine>& spectrum) const { return {transmit, back(), spectrum}; }
};
/// A view's rays at `pixel`; nothing where the rays around it do not suffice. Expects a centre frequency above 0.
[[nodiscard]] std::optional<ViewRays> rays_at(const ImagingPlan& plan, std::size_t view, const Point& pixel);

/// Whether the image is a volume.
[[nodiscard]] inline RaySpace space_of(const ImagingPlan& plan) {
  return plan.grid.y.count > 1 ? RaySpace::volume : RaySpace::plane;
}

[[nodiscard]] std::string place_text(const Point& at);

[[nodiscard]] inline std::string mm(Metres length) {
  return fmt::format("{:.4g} mm", 1e3 * length.value);
}

/// Text for the lengths along two axes, or along one if `across` is 0.
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

/// The reach of each view of the plan.
[[nodiscard]] std::vector<ViewReach> reach_of_views(const ImagingPlan& plan);

/// Adds the lines "lateral" and "axial": the spot of a point at each view's middle, with the filter and the weights that the
/// image has.
void report_spots(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Adds the line "coarsest": the coarsest pixels that keep the amplitude of a point, at the place of each view where they are
/// finest.
void report_pixels(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Adds the lines "events", "angle set" and "frames" where events are listed or chosen. They state the kind of events, the
/// lobes of a set of plane waves (the first at 1 / (f ds) for steps ds of their slownesses), the number of events that
/// would suffice, and the frame rates that sound and connection allow.
void report_events(SetupReport& report, const ImagingPlan& plan);

/// Adds the line "unreached".
void report_unreached(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Adds the line "pitch": grating lobes, in the part where elements are in contact with it, otherwise from the couplant
/// into it. If not every element fires, the line is about the elements that record, and a line "firing" about those that
/// fire.
void report_lobes(SetupReport& report, const ImagingPlan& plan, const std::vector<ReportedMode>& modes,
                  const std::vector<ViewReach>& reach);

}  // namespace echoform
