// Parts of the report that are files of their own, and what they have in common.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "apps/setup_report.hpp"

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
};

[[nodiscard]] inline std::string mm(Metres length) {
  return fmt::format("{:.4g} mm", 1e3 * length.value);
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

/// Lines "lateral" and "axial": the spot of a point at each view's middle.
void report_spots(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Line "unreached".
void report_unreached(SetupReport& report, const ImagingPlan& plan, const std::vector<ViewReach>& reach);

/// Line "pitch": grating lobes, in the part where elements lie on it, else from the couplant into it.
void report_lobes(SetupReport& report, const ImagingPlan& plan, const Scene& scene, const std::vector<ReportedMode>& modes,
                  const std::vector<ViewReach>& reach);

}  // namespace echoform
