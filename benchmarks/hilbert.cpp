#include "benchmarks/hilbert.hpp"

#include <cstring>
#include <memory>
#include <random>

#include "base/errors.hpp"
#include "benchmarks/hilbert_stages.hpp"
#include "cpu/cpu_backend.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::benchmarks {
namespace {

HilbertReport measure_on_cpu(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  progress("making data");
  const auto backend = make_cpu_backend(test.threads);
  const auto queue = backend->make_queue();
  const BlockSpec raw_spec = hilbert_raw_spec(test);
  const Buffer raw = backend->allocate(raw_spec.bytes(), MemoryUse::working);
  const std::vector<std::int16_t> samples = hilbert_raw_samples(test);
  std::memcpy(raw.data(), samples.data(), raw.size());
  const auto pairing = make_pairing_cpu(pairing_of(hilbert_acquisition(test), true, 1.0));
  const auto analytic = make_analytic_signal_cpu(team_size(*backend));
  const auto filtered = make_analytic_signal_cpu(team_size(*backend), simd_level(), hilbert_filter());
  const BlockSpec half_spec = pairing->prepare(raw_spec);
  const BlockSpec analytic_spec = analytic->prepare(half_spec);
  static_cast<void>(filtered->prepare(half_spec));
  const Buffer half = backend->allocate(half_spec.bytes(), MemoryUse::working);
  const Buffer signal = backend->allocate(analytic_spec.bytes(), MemoryUse::working);

  HilbertReport report;
  StageTurns turns(*backend, *queue, raw, test.frames, progress);
  const auto run_half = [&] { pairing->process({raw.data()}, {half.data()}, *queue); };
  const auto run_signal = [&] { analytic->process({half.data()}, {signal.data()}, *queue); };
  const double half_bytes = stage_bytes(raw_spec, half_spec);
  const double signal_bytes = stage_bytes(half_spec, analytic_spec);
  report.stages.push_back(turns.measure("half matrix", half_bytes, run_half));
  report.stages.push_back(turns.measure("analytic signal", signal_bytes, run_signal));
  report.stages.push_back(turns.measure("analytic signal with a filter", signal_bytes,
                                        [&] { filtered->process({half.data()}, {signal.data()}, *queue); }));
  report.chains.push_back(turns.measure("half matrix and analytic signal", half_bytes + signal_bytes, [&] {
    run_half();
    run_signal();
  }));
  report.copy_bytes_per_second = turns.copy_bytes_per_second();
  return report;
}

}  // namespace

Acquisition hilbert_acquisition(const HilbertCase& test) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(test.elements);
  acquisition.samples = test.samples;
  return acquisition;
}

FilterOptions hilbert_filter() {
  FilterOptions band;
  band.kind = FilterKind::band;
  band.sample_rate = Hertz(100e6);
  band.low = Hertz(2.75e6);
  band.high = Hertz(7.25e6);
  band.skirt = Hertz(1.5e6);
  return band;
}

BlockSpec hilbert_raw_spec(const HilbertCase& test) {
  BlockSpec spec;
  spec.type = ElementType::raw;
  spec.encoding = SampleEncoding::int16;
  spec.rows = test.elements * test.elements;
  spec.columns = test.samples;
  return spec;
}

std::vector<std::int16_t> hilbert_raw_samples(const HilbertCase& test) {
  std::vector<std::int16_t> samples(test.elements * test.elements * test.samples);
  std::minstd_rand random(1);
  for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(static_cast<int>(random() >> 8 & 0xfff) - 2048);
  return samples;
}

HilbertReport measure_hilbert(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  if (test.backend == BackendKind::cpu) return measure_on_cpu(test, progress);
#ifdef ECHOFORM_WITH_CUDA
  return measure_hilbert_cuda(test, progress);
#else
  throw RuntimeFault("this program holds no CUDA code");
#endif
}

}  // namespace echoform::benchmarks
