#include "benchmarks/array_case.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::benchmarks {
namespace {

bool suits_a_transform(std::size_t length) {
  for (const std::size_t factor : {2U, 3U, 5U, 7U}) {
    while (length % factor == 0) length /= factor;
  }
  return length == 1;
}

}  // namespace

ImagingPlan array_plan(const ArrayCase& test) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(test.elements, Metres(0.65e-3), Metres(0.0), Hertz(5e6), Hertz(0.0));
  plan.acquisition.matrix = test.matrix;
  plan.acquisition.samples = test.samples;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid.x = {Metres(-37.5e-3), Metres(37.5e-3), test.pixels};
  plan.grid.z = {Metres(0.5e-3), Metres(75.5e-3), test.pixels};
  if (test.pixels == 1) plan.grid.x.last = plan.grid.x.first, plan.grid.z.last = plan.grid.z.first;
  plan.accuracy = test.accuracy;
  for (const std::string& view : test.views) {
    plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, view}));
  }
  if (test.gated) plan.gate = reachable_gate(plan);
  return plan;
}

SampleGate reachable_gate(const ImagingPlan& plan) {
  // Distances to a point are convex: the longest ends at a corner. The shortest ends on the row nearest to the array.
  std::vector<Point> points;
  for (std::size_t k = 0; k < plan.grid.x.count; ++k) points.push_back({plan.grid.x.at(k), Metres(0.0), plan.grid.z.first});
  points.push_back({plan.grid.x.first, Metres(0.0), plan.grid.z.last});
  points.push_back({plan.grid.x.last, Metres(0.0), plan.grid.z.last});
  std::vector<double> times(points.size());
  const auto extremes = [&](const Leg& leg, std::vector<double>& least, std::vector<double>& most) {
    least.assign(points.size(), 1.0);
    most.assign(points.size(), -1.0);
    for (std::size_t source = 0; source < leg.sources(); ++source) {
      leg.travel_times(source, points, times);
      for (std::size_t p = 0; p < points.size(); ++p) {
        least[p] = std::min(least[p], times[p]);
        most[p] = std::max(most[p], times[p]);
      }
    }
  };
  double earliest = 1.0;
  double latest = -1.0;
  for (const DelayLaw& law : plan.laws) {
    std::vector<double> transmit_least, transmit_most, receive_least, receive_most;
    extremes(*law.transmit, transmit_least, transmit_most);
    extremes(*law.receive, receive_least, receive_most);
    for (std::size_t p = 0; p < points.size(); ++p) {
      earliest = std::min(earliest, transmit_least[p] + receive_least[p]);
      latest = std::max(latest, transmit_most[p] + receive_most[p]);
    }
  }
  const Acquisition& acquisition = plan.acquisition;
  const auto sample_of = [&](double time) {
    const double u = (time - acquisition.start_time.value + acquisition.time_offset.value) * acquisition.sample_rate.value;
    return std::clamp(u, 0.0, static_cast<double>(acquisition.samples));
  };
  constexpr std::size_t guard = 32;
  SampleGate gate;
  const auto first = static_cast<std::size_t>(sample_of(earliest));
  gate.first = first > guard ? (first - guard) / 32 * 32 : 0;
  const std::size_t room = acquisition.samples - gate.first;
  const auto end = static_cast<std::size_t>(std::ceil(sample_of(latest))) + 1 + guard;
  gate.count = std::min(room, (end - gate.first + 15) / 16 * 16);
  for (std::size_t count = gate.count; count <= room; count += 16) {
    if (suits_a_transform(count)) {
      gate.count = count;
      break;
    }
  }
  return gate;
}

bool looked_up_once(const ImagingPlan& plan, std::size_t view) {
  const bool halved = plan.acquisition.matrix != MatrixKind::full || plan.reciprocal();
  return halved && plan.laws[view].reciprocal() && plan.apodization.symmetric();
}

double pairs_of(const ImagingPlan& plan) {
  const auto n = static_cast<double>(plan.acquisition.elements());
  double pairs = 0.0;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    pairs += looked_up_once(plan, view) ? n * (n + 1.0) / 2.0 : n * n;
  }
  return pairs;
}

}  // namespace echoform::benchmarks
