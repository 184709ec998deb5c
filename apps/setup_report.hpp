// The figures of a set-up, for people and for scripts, and what of them is likely to disappoint.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "methods/tfm/plan.hpp"
#include "methods/tfm/setup_figures.hpp"

namespace echoform {

struct SetupReport {
  std::vector<std::pair<std::string, std::string>> rows;  ///< name and text
  std::vector<std::string> warnings;
  nlohmann::json values = nlohmann::json::object();  ///< SI units

  void row(std::string name, std::string text) { rows.emplace_back(std::move(name), std::move(text)); }
};

/// `scene` as make_scene() gives it. Wavelengths, near field, grating lobes, pixels and samples of a plan by the formulas of
/// methods/tfm/setup_figures.hpp; resolution, departures and what is not reached by the plan's rays
/// (methods/tfm/point_spread.hpp, grating_lobes.hpp, reached.hpp); the array by array_shape.hpp; warnings that images get too by
/// plan_warnings.hpp. What needs a number that nobody states, such as the centre frequency, is left out with a warning.
[[nodiscard]] SetupReport report_setup(const ImagingPlan& plan, const Scene& scene);

}  // namespace echoform
