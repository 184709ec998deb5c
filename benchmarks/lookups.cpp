#include "benchmarks/lookups.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

#include "benchmarks/array_case.hpp"
#include "cpu/thread_team.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/apodization.hpp"

namespace echoform::benchmarks {

std::vector<float> sample_delays(const ImagingPlan& plan, const Leg& leg) {
  const auto points = plan.grid.points();
  const Acquisition& acquisition = plan.acquisition;
  const double start = 0.5 * (acquisition.start_time.value - acquisition.time_offset.value);
  std::vector<float> delays(leg.sources() * points.size());
  std::vector<double> times(points.size());
  for (std::size_t source = 0; source < leg.sources(); ++source) {
    leg.travel_times(source, points, times);
    std::transform(times.begin(), times.end(), delays.begin() + static_cast<std::ptrdiff_t>(source * points.size()),
                   [&](double time) { return static_cast<float>((time - start) * acquisition.sample_rate.value); });
  }
  return delays;
}

std::vector<float> weights_of(const ImagingPlan& plan, const Leg& leg) {
  const Aperture aperture = beamform_options(plan, plan_pairs(plan), 0).aperture;
  const Apodization& apodization = aperture.apodization;
  const std::size_t n = plan.acquisition.elements();
  const auto points = plan.grid.points();
  const std::vector<double> window = beamform::aperture_window(apodization.window, apodization.tukey_fraction, n);
  std::vector<float> weights(n * points.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = std::span(weights).subspan(i * points.size(), points.size());
    // Element k is source k of either side.
    beamform::element_weights(aperture, BeamformSide::receive, leg, i, window[i], points, row);
  }
  return weights;
}

double count_within(const std::vector<float>& transmit, const std::vector<float>& receive, std::size_t pixels,
                    std::size_t samples, bool once, std::size_t threads) {
  const auto limit = static_cast<float>(samples - 1);
  const std::size_t sources = transmit.size() / pixels;
  const std::size_t receivers = receive.size() / pixels;
  ThreadTeam team(threads);
  std::vector<std::uint64_t> counts(team.size(), 0);
  // The pixels are divided into pieces whose delays stay in a cache.
  constexpr std::size_t piece = 1024;
  team.for_each((pixels + piece - 1) / piece, 1, [&](std::size_t begin, std::size_t end, std::size_t member) {
    for (std::size_t at = begin; at < end; ++at) {
      const std::size_t first = at * piece;
      const std::size_t count = std::min(piece, pixels - first);
      for (std::size_t i = 0; i < sources; ++i) {
        const float* forth = transmit.data() + i * pixels + first;
        for (std::size_t j = once ? i : 0; j < receivers; ++j) {
          const float* back = receive.data() + j * pixels + first;
          std::uint32_t within = 0;
          for (std::size_t p = 0; p < count; ++p) {
            const float sample = forth[p] + back[p];
            within += sample >= 0.0F && sample < limit ? 1U : 0U;  // NaN, where no ray goes, is not counted
          }
          counts[member] += within;
        }
      }
    }
  });
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

LookupCount count_lookups(const ImagingPlan& plan, std::size_t threads) {
  LookupCount count;
  for (const PositionPlan& position : plan.positions) {
    const LookupCount alone = count_lookups(*position.plan, threads);
    count.all += alone.all;
    count.reached += alone.reached;
  }
  if (!plan.positions.empty()) return count;
  const std::size_t pixels = plan.grid.pixels();
  count.all = pairs_of(plan) * static_cast<double>(pixels);
  const SampleGate gate = plan.imaged_samples();
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    const DelayLaw& law = plan.laws[view];
    // Only the samples of the gate exist.
    std::vector<float> transmit = sample_delays(plan, *law.transmit);
    const std::vector<float> receive = law.reciprocal() ? transmit : sample_delays(plan, *law.receive);
    for (float& delay : transmit) delay -= static_cast<float>(gate.first);
    count.reached += count_within(transmit, receive, pixels, gate.count, looked_up_once(plan, view), threads);
  }
  return count;
}

}  // namespace echoform::benchmarks
