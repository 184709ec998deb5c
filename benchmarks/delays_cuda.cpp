#include <chrono>

#include "benchmarks/delays.hpp"
#include "benchmarks/stopwatch.hpp"
#include "gpu/cuda_backend.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/ray_tiles.hpp"

namespace echoform::benchmarks {

std::vector<DeviceDelays> measure_device_delays(const DelaysCase& test) {
  const auto backend = make_cuda_backend();
  std::vector<DeviceDelays> report;
  for (const DelaysPart& part : delays_parts()) {
    if (test.volume() && part.surface->segments().size() > 1) continue;
    const ImagingPlan plan = delays_plan(test, part);
    // The pairs are those of the rows of a half matrix.
    BeamformOptions options = beamform_options(plan, plan_pairs(plan), 0);
    options.pairs = pairs_both_ways(plan.acquisition.elements());
    const beamform::TilePlanRequest request{.options = options};
    const auto rays = beamform::make_ray_tiles(request, *backend);
    DeviceDelays& found = report.emplace_back(DeviceDelays{part.name, rays != nullptr, {}});
    if (rays == nullptr) continue;
    std::vector<double> seconds;
    for (std::size_t round = 0; round < 3 + 10 * test.rounds; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      rays->build();
      if (round >= 3) seconds.push_back(seconds_since(begin));
    }
    found.seconds = spread_of(seconds);
  }
  return report;
}

}  // namespace echoform::benchmarks
