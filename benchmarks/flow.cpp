#include "benchmarks/flow.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "cpu/cpu_backend.hpp"
#include "gpu/cuda_backend.hpp"
#include "stages/autocorrelation/autocorrelation.hpp"
#include "stages/block_checks.hpp"
#include "stages/flow/flow.hpp"
#include "stages/wall_filter/wall_filter.hpp"

namespace echoform::benchmarks {
namespace {

BlockSpec flow_ensembles_spec(const FlowCase& test) {
  BlockSpec spec;
  spec.type = test.backend == BackendKind::cuda ? ElementType::complex64 : ElementType::planar_complex64;
  spec.rows = test.lines * test.ensemble;
  spec.columns = test.ranges;
  spec.row_stride = padded_columns(test.ranges);
  return spec;
}

/// Random ensembles in the layout of `spec`.
std::vector<float> flow_ensembles(const FlowCase& test, const BlockSpec& spec) {
  std::vector<float> samples(spec.bytes() / sizeof(float));
  const bool planar = spec.type == ElementType::planar_complex64;
  std::minstd_rand random(9);
  const auto draw = [&] { return static_cast<float>(random()) * 0x1p-30F - 1.0F; };
  for (std::size_t line = 0; line < test.lines; ++line) {
    for (std::size_t range = 0; range < test.ranges; ++range) {
      const std::complex<float> tissue(100.0F * draw(), 100.0F * draw());
      const std::complex<float> blood(draw(), draw());
      const float turn = 2.5F * draw();
      for (std::size_t n = 0; n < test.ensemble; ++n) {
        const auto at = static_cast<float>(n);
        const std::complex<float> sample = tissue * std::polar(1.0F, 0.01F * at) + blood * std::polar(1.0F, turn * at);
        float* const re = samples.data() + 2 * (line * test.ensemble + n) * spec.row_stride + (planar ? range : 2 * range);
        re[0] = sample.real();
        re[planar ? spec.row_stride : 1] = sample.imag();
      }
    }
  }
  return samples;
}

/// A stage and its output.
struct FlowBenchStage {
  FlowBenchStage(const StageKind& kind, const StageOptions& options, const BlockSpec& of, Backend& backend)
      : stage(make_stage(kind, options, backend)),
        input(of),
        output(stage->prepare(of)),
        image(backend.allocate(output.bytes(), MemoryUse::working)) {}

  void run(const void* from, ExecutionQueue& queue) const { stage->process({from}, {image.data()}, queue); }
  [[nodiscard]] double bytes() const { return stage_bytes(input, output); }
  [[nodiscard]] double written() const { return static_cast<double>(output.rows * output.columns * sizeof(float)); }

  std::unique_ptr<Stage> stage;
  BlockSpec input;
  BlockSpec output;
  Buffer image;
};

struct WallFilterCase {
  std::string name;
  WallFilterOptions options;
};

std::vector<WallFilterCase> wall_filter_cases(const FlowCase& test) {
  return {{"polynomial of order 1", {.kind = WallFilterKind::regression, .ensemble = test.ensemble, .order = 1}},
          {"FIR, differences of order 2", {.kind = WallFilterKind::fir, .ensemble = test.ensemble, .order = 2}},
          {"SVD, 2 components", {.kind = WallFilterKind::svd, .ensemble = test.ensemble, .components = 2}}};
}

}  // namespace

FlowReport measure_flow(const FlowCase& test, const Progress& progress) {
  progress("making data");
  const bool cuda = test.backend == BackendKind::cuda;
  const auto backend = cuda ? make_cuda_backend() : make_cpu_backend(test.threads);
  const auto queue = backend->make_queue();
  const BlockSpec spec = flow_ensembles_spec(test);
  const Buffer ensembles = backend->allocate(spec.bytes(), MemoryUse::working);
  const std::vector<float> samples = flow_ensembles(test, spec);
  if (cuda) {
    copy_now(ensembles.data(), samples.data(), ensembles.size());
  } else {
    std::memcpy(ensembles.data(), samples.data(), ensembles.size());
  }

  FlowReport report;
  StageTurns turns(*backend, *queue, ensembles, test.frames, progress);
  for (const WallFilterCase& way : wall_filter_cases(test)) {
    const FlowBenchStage filter(wall_filter_stage, way.options, spec, *backend);
    const AutocorrelationOptions correlating{filtered_ensemble(way.options), test.half_window};
    const FlowBenchStage correlations(autocorrelation_stage, correlating, filter.output, *backend);
    const auto image = [&](FlowKind kind) {
      return FlowBenchStage(flow_stage, FlowOptions{kind, MetresPerSecond(0.3), 1e-3}, correlations.output, *backend);
    };
    const FlowBenchStage velocity = image(FlowKind::velocity);
    const FlowBenchStage power = image(FlowKind::power);
    const FlowBenchStage variance = image(FlowKind::variance);
    const auto run_filter = [&] { filter.run(ensembles.data(), *queue); };
    const auto run_correlations = [&] { correlations.run(filter.image.data(), *queue); };
    const auto run_velocity = [&] { velocity.run(correlations.image.data(), *queue); };
    report.stages.push_back(turns.measure(way.name, filter.bytes(), run_filter));
    if (report.stages.size() == 1) {
      report.stages.push_back(turns.measure("autocorrelation", correlations.bytes(), run_correlations));
      report.stages.push_back(turns.measure("velocity", velocity.bytes(), run_velocity));
    }
    const double read = static_cast<double>(spec.rows * spec.columns * sizeof(std::complex<float>));
    report.chains.push_back(turns.measure(way.name + ", to velocity", read + velocity.written(), [&] {
      run_filter();
      run_correlations();
      run_velocity();
    }));
    report.chains.push_back(turns.measure(way.name + ", to velocity, power, variance", read + 3.0 * velocity.written(), [&] {
      run_filter();
      run_correlations();
      for (const FlowBenchStage* const stage : {&velocity, &power, &variance}) stage->run(correlations.image.data(), *queue);
    }));
  }
  report.copy_bytes_per_second = turns.copy_bytes_per_second();
  return report;
}

}  // namespace echoform::benchmarks
