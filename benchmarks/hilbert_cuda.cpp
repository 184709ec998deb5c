#include <memory>

#include "benchmarks/hilbert_stages.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/fused_hilbert.hpp"
#include "stages/half_matrix/half_matrix.hpp"

namespace echoform::benchmarks {
namespace {

/// Frames that are queued one behind the other, as in a stream of them, each between two events.
std::vector<double> seconds_of(std::size_t frames, ExecutionQueue& queue, const std::function<void()>& work) {
  const cudaStream_t stream = gpu::stream_of(queue);
  std::vector<gpu::Event> events;
  for (std::size_t frame = 0; frame <= frames; ++frame) events.push_back(gpu::make_event(true));
  work();
  work();
  queue.finish();
  ECHOFORM_CUDA(cudaEventRecord(events[0].get(), stream));
  for (std::size_t frame = 0; frame < frames; ++frame) {
    work();
    ECHOFORM_CUDA(cudaEventRecord(events[frame + 1].get(), stream));
  }
  queue.finish();
  std::vector<double> seconds;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, events[frame].get(), events[frame + 1].get()));
    seconds.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  return seconds;
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
  const auto half_matrix = make_half_matrix_cuda({test.elements, true, 1.0, {}}, *backend);
  const BlockSpec half_spec = half_matrix->prepare(raw_spec);
  const Buffer half = backend->allocate(half_spec.bytes(), MemoryUse::working);

  HilbertReport report;
  progress("copy");
  {
    const Buffer copy = backend->allocate(raw.size(), MemoryUse::working);
    const Spread copying = spread_of(seconds_of(test.frames, *queue, [&] {
      ECHOFORM_CUDA(cudaMemcpyAsync(copy.data(), raw.data(), raw.size(), cudaMemcpyDeviceToDevice, stream));
    }));
    report.copy_bytes_per_second = 2.0 * static_cast<double>(raw.size()) / copying.median;
  }
  const auto figure = [&](const std::string& name, double bytes, const std::function<void()>& work) {
    progress(name);
    return HilbertFigure{name, spread_of(seconds_of(test.frames, *queue, work)), bytes, bytes / report.copy_bytes_per_second};
  };
  const auto run_half = [&] { half_matrix->process({raw.data()}, {half.data()}, *queue); };
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
  return report;
}

}  // namespace echoform::benchmarks
