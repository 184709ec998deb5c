#include <memory>

#include "benchmarks/hilbert_stages.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::benchmarks {
namespace {

/// Frames that are queued one behind the other, as in a stream of them, each between two events and each behind a copy, which
/// is timed alike.
Turns turns_of(std::size_t frames, ExecutionQueue& queue, const std::function<void()>& work, const std::function<void()>& copy) {
  const cudaStream_t stream = gpu::stream_of(queue);
  std::vector<gpu::Event> events;
  for (std::size_t k = 0; k <= 2 * frames; ++k) events.push_back(gpu::make_event(true));
  for (int k = 0; k < 2; ++k) {
    copy();
    work();
  }
  queue.finish();
  ECHOFORM_CUDA(cudaEventRecord(events[0].get(), stream));
  for (std::size_t frame = 0; frame < frames; ++frame) {
    copy();
    ECHOFORM_CUDA(cudaEventRecord(events[2 * frame + 1].get(), stream));
    work();
    ECHOFORM_CUDA(cudaEventRecord(events[2 * frame + 2].get(), stream));
  }
  queue.finish();
  Turns turns;
  for (std::size_t k = 0; k < 2 * frames; ++k) {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, events[k].get(), events[k + 1].get()));
    turns.add(k % 2 == 0 ? "copy" : "work", 1e-3 * static_cast<double>(milliseconds));
  }
  return turns;
}

struct Way {
  std::string name;
  AnalyticSignalOptions options;
};

}  // namespace

HilbertReport measure_hilbert_cuda(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  progress("making data");
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const cudaStream_t stream = gpu::stream_of(*queue);
  const BlockSpec raw_spec = hilbert_raw_spec(test);
  const Buffer raw = backend->allocate(raw_spec.bytes(), MemoryUse::working);
  copy_now(raw.data(), hilbert_raw_samples(test).data(), raw.size());
  const auto pairing = make_pairing_cuda(pairing_of(hilbert_acquisition(test), true, 1.0), *backend);
  const BlockSpec half_spec = pairing->prepare(raw_spec);
  const Buffer half = backend->allocate(half_spec.bytes(), MemoryUse::working);

  HilbertReport report;
  const Buffer target = backend->allocate(raw.size(), MemoryUse::working);
  const double copied = 2.0 * static_cast<double>(raw.size());
  const auto copy = [&] {
    ECHOFORM_CUDA(cudaMemcpyAsync(target.data(), raw.data(), raw.size(), cudaMemcpyDeviceToDevice, stream));
  };
  std::vector<double> rates;
  const auto figure = [&](const std::string& name, double bytes, const std::function<void()>& work) {
    progress(name);
    Turns turns = turns_of(test.frames, *queue, work, copy);
    for (const double seconds : turns.values("copy")) rates.push_back(copied / seconds);
    return hilbert_figure(name, std::move(turns), bytes, copied);
  };
  const auto run_half = [&] { pairing->process({raw.data()}, {half.data()}, *queue); };
  const double half_bytes = hilbert_bytes(raw_spec, half_spec);
  report.stages.push_back(figure("half matrix", half_bytes, run_half));

  std::vector<Way> ways;
  if (fused_hilbert_length(test.samples) == test.samples) {
    ways.push_back({"fused, half path", {true, false, HilbertRoute::fused}});
    ways.push_back({"fused, float path", {false, false, HilbertRoute::fused}});
  }
  ways.push_back({"cuFFT, half path", {true, false, HilbertRoute::cufft}});
  ways.push_back({"cuFFT, float path", {false, false, HilbertRoute::cufft}});
  for (const Way& way : ways) {
    const auto analytic = make_analytic_signal_cuda(way.options, *backend);
    const BlockSpec spec = analytic->prepare(half_spec);
    const Buffer signal = backend->allocate(spec.bytes(), MemoryUse::working);
    const auto run_signal = [&] { analytic->process({half.data()}, {signal.data()}, *queue); };
    const double signal_bytes = hilbert_bytes(half_spec, spec);
    report.stages.push_back(figure(way.name, signal_bytes, run_signal));
    report.chains.push_back(figure("half matrix and " + way.name, half_bytes + signal_bytes, [&] {
      run_half();
      run_signal();
    }));
  }
  report.copy_bytes_per_second = spread_of(std::move(rates)).median;
  return report;
}

}  // namespace echoform::benchmarks
