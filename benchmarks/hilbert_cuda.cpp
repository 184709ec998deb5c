#include <memory>

#include "benchmarks/hilbert_stages.hpp"
#include "gpu/cuda_backend.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::benchmarks {
namespace {

struct HilbertWay {
  std::string name;
  AnalyticSignalOptions options;
};

}  // namespace

HilbertReport measure_hilbert_cuda(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  progress("making data");
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const BlockSpec raw_spec = hilbert_raw_spec(test);
  const Buffer raw = backend->allocate(raw_spec.bytes(), MemoryUse::working);
  copy_now(raw.data(), hilbert_raw_samples(test).data(), raw.size());
  const auto pairing = make_pairing_cuda(pairing_of(hilbert_acquisition(test), true, 1.0), *backend);
  const BlockSpec half_spec = pairing->prepare(raw_spec);
  const Buffer half = backend->allocate(half_spec.bytes(), MemoryUse::working);

  HilbertReport report;
  StageTurns turns(*backend, *queue, raw, test.frames, progress);
  const auto run_half = [&] { pairing->process({raw.data()}, {half.data()}, *queue); };
  const double half_bytes = stage_bytes(raw_spec, half_spec);
  report.stages.push_back(turns.measure("half matrix", half_bytes, run_half));

  std::vector<HilbertWay> ways;
  for (const HilbertRoute route : {HilbertRoute::fused, HilbertRoute::cufft}) {
    if (route == HilbertRoute::fused && fused_hilbert_length(test.samples) != test.samples) continue;
    const std::string name = route == HilbertRoute::fused ? "fused" : "cuFFT";
    for (const bool half_path : {true, false}) {
      const std::string path = half_path ? ", half path" : ", float path";
      ways.push_back({name + path, {.half = half_path, .route = route}});
      if (route == HilbertRoute::fused && !can_fuse(hilbert_filter(), test.samples)) continue;
      ways.push_back({name + path + ", with a filter", {.half = half_path, .route = route, .filter = hilbert_filter()}});
    }
  }
  for (const HilbertWay& way : ways) {
    const auto analytic = make_analytic_signal_cuda(way.options, *backend);
    const BlockSpec spec = analytic->prepare(half_spec);
    const Buffer signal = backend->allocate(spec.bytes(), MemoryUse::working);
    const auto run_signal = [&] { analytic->process({half.data()}, {signal.data()}, *queue); };
    const double signal_bytes = stage_bytes(half_spec, spec);
    report.stages.push_back(turns.measure(way.name, signal_bytes, run_signal));
    report.chains.push_back(turns.measure("half matrix and " + way.name, half_bytes + signal_bytes, [&] {
      run_half();
      run_signal();
    }));
  }
  report.copy_bytes_per_second = turns.copy_bytes_per_second();
  return report;
}

}  // namespace echoform::benchmarks
