#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "benchmarks/device_timing.hpp"
#include "benchmarks/direct_image.hpp"
#include "benchmarks/tfm_gpu.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/stage.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t lead = 256;
constexpr std::size_t trailer = 64;

/// Random analytic signals in the form that the analytic-signal stage gives the beamformer.
class BeamformerInput {
 public:
  BeamformerInput(const ImagingPlan& plan, MatrixKind matrix, bool half_path, Backend& backend, cudaStream_t stream) {
    const std::size_t n = plan.acquisition.elements();
    rows_.lead = lead;
    rows_.rows = n * (n + 1) / 2;
    rows_.samples = plan.acquisition.samples;
    rows_.stride = (rows_.samples + lead + 15) / 16 * 16;
    single_ = backend.allocate((rows_.lead + rows_.rows * rows_.stride) * sizeof(float2), MemoryUse::working);
    rows_.data = static_cast<float2*>(single_.data());
    launch_fill_random(rows_, stream);

    spec_.type = half_path ? ElementType::complex_half_slope : ElementType::complex64;
    spec_.matrix = matrix;
    spec_.rows = rows_.rows;
    spec_.columns = rows_.samples;
    spec_.row_stride = rows_.stride;
    spec_.lead = lead;
    if (!half_path) return;
    spec_.trailer = trailer;
    half_ = backend.allocate(spec_.bytes(), MemoryUse::working);
    // The power of two that brings the peak into (1/8, 1/4].
    const float scale = std::exp2(std::floor(std::log2(0.25F / random_peak)));
    launch_half_slope(rows_, scale, static_cast<uint2*>(half_.data()), stream);
    ECHOFORM_CUDA(cudaStreamSynchronize(stream));
    const float inverse = 1.0F / scale;
    copy_now(half_.bytes_begin() + spec_.bytes() - trailer, &inverse, sizeof(inverse));
  }
  [[nodiscard]] const BlockSpec& spec() const { return spec_; }
  [[nodiscard]] ConstBlock block() const { return {half_ ? half_.data() : single_.data()}; }
  [[nodiscard]] const DeviceRows& rows() const { return rows_; }

 private:
  DeviceRows rows_;
  BlockSpec spec_;
  Buffer single_;
  Buffer half_;
};

double error_of(const Buffer& output, const std::vector<std::complex<double>>& truth) {
  std::vector<std::complex<float>> image(truth.size());
  copy_now(image.data(), output.data(), image.size() * sizeof(image[0]));
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    error += std::norm(std::complex<double>(image[k]) - truth[k]);
    norm += std::norm(truth[k]);
  }
  return std::sqrt(error / norm);
}

}  // namespace

DeviceCeilings measure_ceilings(std::size_t rounds) {
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  cudaStream_t stream = gpu::stream_of(*queue);
  const DeviceFacts facts = device_facts();
  const Buffer sink = backend->allocate(64, MemoryUse::working);
  // Two blocks of 1024 threads fill a multiprocessor; four rounds of them even out the end.
  const auto blocks = static_cast<unsigned>(8 * facts.multiprocessors);
  const double threads = static_cast<double>(blocks) * ceiling_threads;
  const auto rate = [&](double operations, const std::function<void()>& work) {
    const Spread seconds = seconds_on_device(stream, rounds, work);
    return Spread{operations / seconds.median, operations / seconds.most, operations / seconds.least};
  };
  DeviceCeilings ceilings;
  ceilings.device = facts.text();
  ceilings.loads_8 =
      rate(threads * ceiling_loads, [&] { launch_shared_loads(8, blocks, static_cast<unsigned*>(sink.data()), stream); });
  ceilings.loads_16 =
      rate(threads * ceiling_loads, [&] { launch_shared_loads(16, blocks, static_cast<unsigned*>(sink.data()), stream); });
  ceilings.instructions =
      rate(threads * ceiling_issues, [&] { launch_issues(blocks, static_cast<float*>(sink.data()), stream); });
  const double cycles = facts.clock * facts.multiprocessors;
  ceilings.computed_loads_8 = 16.0 * cycles;
  ceilings.computed_loads_16 = 8.0 * cycles;
  ceilings.computed_instructions = 128.0 * cycles;
  return ceilings;
}

TfmGpuReport measure_tfm_gpu(const ArrayCase& test, std::size_t rounds) {
  const ImagingPlan plan = array_plan(test);
  TfmGpuReport report;
  report.measured = test;
  report.half_path = plan.accuracy >= 1e-3;
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  cudaStream_t stream = gpu::stream_of(*queue);
  const MatrixKind matrix = plan.reciprocal() ? MatrixKind::half_summed : MatrixKind::half;
  const BeamformerInput input(plan, matrix, report.half_path, *backend, stream);

  struct View {
    std::unique_ptr<Stage> stage;
    Buffer image;
  };
  std::vector<View> views;
  for (std::size_t view = 0; view < plan.laws.size(); ++view) {
    auto stage = make_stage("beamform", plan, view, *backend);
    const BlockSpec output = stage->prepare(input.spec());
    views.push_back({std::move(stage), backend->allocate(output.bytes(), MemoryUse::working)});
    report.stage_bytes += views.back().stage->bytes();
  }
  report.seconds = seconds_on_device(stream, rounds, [&] {
    for (View& view : views) view.stage->process(input.block(), {view.image.data()}, *queue);
  });
  for (std::size_t view = 0; view < views.size(); ++view) {
    const DirectImage truth = direct_image(plan, view, input.rows(), matrix, stream);
    report.lookups += truth.lookups;
    report.relative_error = std::max(report.relative_error, error_of(views[view].image, truth.image));
  }
  const Spread& seconds = report.seconds;
  report.lookups_per_second = {report.lookups / seconds.median, report.lookups / seconds.most, report.lookups / seconds.least};
  return report;
}

}  // namespace echoform::benchmarks
