#include "benchmarks/array_case.hpp"

#include <fmt/format.h>

#include <numbers>
#include <utility>

#include "methods/tfm/stage_options.hpp"

namespace echoform::benchmarks {

std::string ArrayCase::array_text() const {
  return volume() ? fmt::format("{} x {}", elements, rows) : fmt::format("{}", elements);
}

std::string ArrayCase::grid_text() const {
  return volume() ? fmt::format("{0} x {0} x {0}", pixels) : fmt::format("{0} x {0}", pixels);
}

ImagingPlan array_plan(const ArrayCase& test) {
  ImagingPlan plan;
  plan.acquisition.probe = make_matrix_probe({.columns = test.elements,
                                              .rows = test.rows,
                                              .pitch = Metres(0.65e-3),
                                              .row_pitch = Metres(0.65e-3),
                                              .width = {},
                                              .length = {}},
                                             Hertz(5e6), Hertz(0.0));
  plan.acquisition.matrix = test.matrix;
  plan.acquisition.samples = test.samples;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid.x = {Metres(-37.5e-3), Metres(37.5e-3), test.pixels};
  plan.grid.z = {Metres(0.5e-3), Metres(75.5e-3), test.pixels};
  if (test.volume()) {
    plan.grid.x = plan.grid.y = {Metres(-20e-3), Metres(20e-3), test.pixels};
    plan.grid.z = {Metres(0.5e-3), Metres(40.5e-3), test.pixels};
  }
  if (test.pixels == 1)
    plan.grid.x.last = plan.grid.x.first, plan.grid.y.last = plan.grid.y.first, plan.grid.z.last = plan.grid.z.first;
  plan.accuracy = test.accuracy;
  for (std::size_t wave = 0; wave < test.waves; ++wave) {
    const double share = test.waves > 1 ? static_cast<double>(wave) / static_cast<double>(test.waves - 1) : 0.5;
    const double angle = (40.0 * share - 20.0) * std::numbers::pi / 180.0;
    plan.acquisition.events.push_back({plane_wave(angle, plan.material.longitudinal_velocity), {}});
  }
  for (const std::string& view : test.views) {
    plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, view}));
  }
  return test.weighted ? weighted_plan(std::move(plan)) : plan;
}

ImagingPlan weighted_plan(ImagingPlan plan) {
  plan.apodization.window = ApodizationWindow::hann;
  plan.apodization.directivity = true;
  return plan;
}

bool looked_up_once(const ImagingPlan& plan, std::size_t view) {
  const BeamformOptions options = beamform_options(plan, plan_pairs(plan), view);
  return options.alike_both_ways() && options.pairs != all_pairs(options.pairs.events, options.pairs.receivers);
}

double pairs_of(const ImagingPlan& plan) {
  const auto n = static_cast<double>(plan.acquisition.elements());
  const auto events = static_cast<double>(plan.acquisition.event_count());
  double pairs = 0.0;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    pairs += looked_up_once(plan, view) ? n * (n + 1.0) / 2.0 : events * n;
  }
  return pairs;
}

}  // namespace echoform::benchmarks
