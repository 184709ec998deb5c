#include "benchmarks/scan_lines_gpu.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "benchmarks/device_timing.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t uploaded_events = 32;
constexpr std::size_t uploads_of_lines = 24;

/// The stage with its output.
struct LinesOfStage {
  LinesOfStage(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event, Backend& backend)
      : LinesOfStage(test, lines_options(test, filter, of_event), backend) {}
  LinesOfStage(const LinesCase& test, const ScanLinesOptions& options, Backend& backend)
      : stage(make_scan_lines_cuda(options, backend)) {
    BlockSpec spec;
    spec.type = ElementType::raw;
    spec.encoding = SampleEncoding::int16;
    spec.rows = test.events * test.channels;
    spec.columns = test.samples;
    bytes = spec.bytes();
    image = backend.allocate(stage->prepare(spec).bytes(), MemoryUse::working);
  }
  std::unique_ptr<Stage> stage;
  std::size_t bytes = 0;  // bytes of the samples
  Buffer image;
};

/// Uploads samples to one piece of memory while those of the other piece are summed.
class LinesWithUploads {
 public:
  LinesWithUploads(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event, Backend& backend)
      : lines_(test, filter, of_event, backend), queue_(backend.make_queue()) {
    const std::vector<std::int16_t> samples = lines_samples(test);
    pinned_ = backend.allocate(lines_.bytes, MemoryUse::staging);
    std::memcpy(pinned_.data(), samples.data(), lines_.bytes);
    for (Buffer& piece : pieces_) piece = backend.allocate(lines_.bytes, MemoryUse::working);
  }

  /// Seconds of all uploads, with the sums or without.
  double seconds(bool sums) {
    const cudaStream_t compute = gpu::stream_of(*queue_);
    ECHOFORM_CUDA(cudaEventRecord(begin_.get(), upload_.get()));
    for (std::size_t k = 0; k < uploads_of_lines; ++k) {
      const std::size_t piece = k % 2;
      if (k >= 2) ECHOFORM_CUDA(cudaStreamWaitEvent(upload_.get(), summed_[piece].get(), 0));
      ECHOFORM_CUDA(cudaMemcpyAsync(pieces_[piece].data(), pinned_.data(), lines_.bytes, cudaMemcpyHostToDevice, upload_.get()));
      ECHOFORM_CUDA(cudaEventRecord(uploaded_[piece].get(), upload_.get()));
      ECHOFORM_CUDA(cudaStreamWaitEvent(compute, uploaded_[piece].get(), 0));
      if (sums) lines_.stage->process({pieces_[piece].data()}, {lines_.image.data()}, *queue_);
      ECHOFORM_CUDA(cudaEventRecord(summed_[piece].get(), compute));
    }
    ECHOFORM_CUDA(cudaEventRecord(end_.get(), compute));
    ECHOFORM_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  LinesOfStage lines_;
  std::unique_ptr<ExecutionQueue> queue_;
  gpu::Stream upload_ = gpu::make_stream();
  gpu::Event begin_ = gpu::make_event(true);
  gpu::Event end_ = gpu::make_event(true);
  gpu::Event uploaded_[2] = {gpu::make_event(), gpu::make_event()};
  gpu::Event summed_[2] = {gpu::make_event(), gpu::make_event()};
  Buffer pinned_;
  Buffer pieces_[2];
};

void sum_on_device(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event, Backend& backend,
                   LinesOnGpu& figure) {
  LinesOfStage lines(test, filter, of_event, backend);
  const auto queue = backend.make_queue();
  const Buffer samples = backend.allocate(lines.bytes, MemoryUse::working);
  copy_now(samples.data(), lines_samples(test).data(), lines.bytes);
  DeviceTimer timer(gpu::stream_of(*queue), [&] { lines.stage->process({samples.data()}, {lines.image.data()}, *queue); });
  std::vector<double> real_time;
  std::vector<double> lookups;
  const double events = static_cast<double>(test.events);
  const double of_a_beam = static_cast<double>(test.samples);
  for (std::size_t round = 0; round < test.rounds; ++round) {
    const double seconds = timer.seconds();
    real_time.push_back(events * of_a_beam / test.sample_rate / seconds);
    lookups.push_back(events * of_a_beam * static_cast<double>(of_event * test.channels) / seconds);
  }
  figure.events = test.events;
  figure.real_time = spread_of(real_time);
  figure.lookups = spread_of(lookups);
}

}  // namespace

LinesOnGpu measure_lines_on_gpu(const LinesCase& test, const DelayFilterOptions& filter, std::size_t of_event) {
  const auto backend = make_cuda_backend();
  LinesOnGpu figure;
  sum_on_device(test, filter, of_event, *backend, figure);
  LinesCase part = test;
  part.events = std::min(test.events, uploaded_events);
  LinesWithUploads work(part, filter, of_event, *backend);
  static_cast<void>(work.seconds(true));
  const Turns turns =
      take_turns(test.rounds, {{"sums", [&] { return work.seconds(true); }}, {"copies", [&] { return work.seconds(false); }}});
  const double echoes = static_cast<double>(uploads_of_lines * part.events * part.samples) / part.sample_rate;
  const auto times_real = [&](const char* name) {
    std::vector<double> rates;
    for (const double seconds : turns.values(name)) rates.push_back(echoes / seconds);
    return spread_of(rates);
  };
  figure.uploaded = part.events;
  figure.uploads_real_time = times_real("sums");
  figure.copies = times_real("copies");
  figure.ratio = turns.ratio("copies", "sums");
  return figure;
}

AdaptiveLinesOnGpu measure_adaptive_lines_on_gpu(const LinesCase& test, const DelayFilterOptions& filter, std::string_view kind) {
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  ScanLinesOptions options = lines_options(test, filter, 1);
  LinesOfStage plain(test, options, *backend);
  options.adaptive.kind = kind;
  options.adaptive.half_window = adaptive_kind(kind, "bench lines").usual_window > 0.0 ? 4 : 0;
  LinesOfStage weighed(test, options, *backend);
  const Buffer samples = backend->allocate(plain.bytes, MemoryUse::working);
  copy_now(samples.data(), lines_samples(test).data(), plain.bytes);
  const cudaStream_t stream = gpu::stream_of(*queue);
  DeviceTimer of_plain(stream, [&] { plain.stage->process({samples.data()}, {plain.image.data()}, *queue); });
  DeviceTimer of_weighed(stream, [&] { weighed.stage->process({samples.data()}, {weighed.image.data()}, *queue); });
  const Turns turns =
      take_turns(test.rounds, {{"plain", [&] { return of_plain.seconds(); }}, {"weighed", [&] { return of_weighed.seconds(); }}});
  const double echoes = static_cast<double>(test.events * test.samples) / test.sample_rate;
  std::vector<double> rates;
  for (const double seconds : turns.values("weighed")) rates.push_back(echoes / seconds);
  return {.real_time = spread_of(rates), .cost = turns.ratio("weighed", "plain")};
}

}  // namespace echoform::benchmarks
