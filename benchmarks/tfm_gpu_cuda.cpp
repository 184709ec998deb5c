#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "benchmarks/device_timing.hpp"
#include "benchmarks/direct_image.hpp"
#include "benchmarks/tfm_gpu.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/stream_queue.hpp"
#include "methods/tfm/stage_options.hpp"
#include "stages/beamform/beamform.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::size_t lead = 256;
constexpr std::size_t trailer = 64;

/// Random analytic signals in the format that the analytic-signal stage passes to the beamformer.
class BeamformerInput {
 public:
  BeamformerInput(const ImagingPlan& plan, const PairRows& pairs, bool half_path, Backend& backend, cudaStream_t stream) {
    rows_.lead = lead;
    rows_.rows = pairs.rows;
    rows_.samples = plan.acquisition.samples;
    rows_.stride = (rows_.samples + lead + 15) / 16 * 16;
    single_ = backend.allocate((rows_.lead + rows_.rows * rows_.stride) * sizeof(float2), MemoryUse::working);
    rows_.data = static_cast<float2*>(single_.data());
    launch_fill_random(rows_, stream);

    spec_.type = half_path ? ElementType::complex_half_slope : ElementType::complex64;
    spec_.rows = rows_.rows;
    spec_.columns = rows_.samples;
    spec_.row_stride = rows_.stride;
    spec_.lead = lead;
    if (!half_path) return;
    spec_.trailer = trailer;
    half_ = backend.allocate(spec_.bytes(), MemoryUse::working);
    // The scale is the power of two that brings the peak into (1/8, 1/4].
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

/// Kernels that do one thing as fast as the device can.
class CeilingKernels {
 public:
  CeilingKernels(Backend& backend, cudaStream_t stream)
      : stream_(stream),
        sink_(backend.allocate(64, MemoryUse::working)),
        // Two blocks of 1024 threads fill a multiprocessor; four rounds of them reduce the effect of uneven ends.
        blocks_(static_cast<unsigned>(8 * device_facts().multiprocessors)) {}

  [[nodiscard]] DeviceTimer loads(unsigned bytes) const {
    return {stream_, [this, bytes] { launch_shared_loads(bytes, blocks_, static_cast<unsigned*>(sink_.data()), stream_); }};
  }
  [[nodiscard]] DeviceTimer instructions() const {
    return {stream_, [this] { launch_issues(blocks_, static_cast<float*>(sink_.data()), stream_); }};
  }
  /// Loads, and instructions, that one run of the respective kernel makes.
  [[nodiscard]] double loads_of_a_run() const { return threads() * ceiling_loads; }
  [[nodiscard]] double instructions_of_a_run() const { return threads() * ceiling_issues; }

 private:
  [[nodiscard]] double threads() const { return static_cast<double>(blocks_) * ceiling_threads; }

  cudaStream_t stream_;
  Buffer sink_;
  unsigned blocks_;
};

}  // namespace

DeviceCeilings measure_ceilings(std::size_t rounds) {
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  const DeviceFacts facts = device_facts();
  const CeilingKernels kernels(*backend, gpu::stream_of(*queue));
  DeviceTimer loads_8 = kernels.loads(8);
  DeviceTimer loads_16 = kernels.loads(16);
  DeviceTimer instructions = kernels.instructions();
  const Turns turns =
      take_turns(rounds, {{"loads of 8", [&] { return kernels.loads_of_a_run() / loads_8.seconds(); }},
                          {"loads of 16", [&] { return kernels.loads_of_a_run() / loads_16.seconds(); }},
                          {"instructions", [&] { return kernels.instructions_of_a_run() / instructions.seconds(); }}});
  DeviceCeilings ceilings;
  ceilings.device = facts.text();
  ceilings.loads_8 = turns.spread("loads of 8");
  ceilings.loads_16 = turns.spread("loads of 16");
  ceilings.instructions = turns.spread("instructions");
  const double cycles = facts.clock * facts.multiprocessors;
  ceilings.computed_loads_8 = 16.0 * cycles;
  ceilings.computed_loads_16 = 8.0 * cycles;
  ceilings.computed_instructions = 128.0 * cycles;
  return ceilings;
}

struct TfmOnGpu::Implementation {
  explicit Implementation(const ArrayCase& test)
      : plan(array_plan(test)),
        half_path(plan.accuracy >= 1e-3),
        backend(make_cuda_backend()),
        queue(backend->make_queue()),
        stream(gpu::stream_of(*queue)),
        pairs(test.waves > 0      ? plan_pairs(plan).rows
              : plan.reciprocal() ? summed_pairs(plan.acquisition.elements())
                                  : pairs_both_ways(plan.acquisition.elements())),
        input(plan, pairs, half_path, *backend, stream),
        views(make_views()),
        ceilings(*backend, stream),
        beamforming(stream, [this] { beamform(); }),
        loads(ceilings.loads(half_path ? 8 : 16)),
        instructions(ceilings.instructions()) {
    for (std::size_t view = 0; view < views.size(); ++view) {
      const DirectImage truth = direct_image(plan, view, input.rows(), pairs, stream);
      lookups += truth.lookups;
      relative_error = std::max(relative_error, error_of(views[view].image, truth.image));
    }
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  struct View {
    std::unique_ptr<Stage> stage;
    Buffer image;
  };
  [[nodiscard]] std::vector<View> make_views() const {
    std::vector<View> made;
    for (std::size_t view = 0; view < plan.laws.size(); ++view) {
      BeamformOptions options = beamform_options(plan, plan_pairs(plan), view);
      options.pairs = pairs;
      auto stage = make_beamform_cuda(std::move(options), *backend);
      const BlockSpec output = stage->prepare(input.spec());
      made.push_back({std::move(stage), backend->allocate(output.bytes(), MemoryUse::working)});
    }
    return made;
  }
  void beamform() {
    for (View& view : views) view.stage->process(input.block(), {view.image.data()}, *queue);
  }

  ImagingPlan plan;
  bool half_path;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ExecutionQueue> queue;
  cudaStream_t stream;
  PairRows pairs;
  BeamformerInput input;
  std::vector<View> views;
  CeilingKernels ceilings;
  DeviceTimer beamforming;
  DeviceTimer loads;
  DeviceTimer instructions;
  double lookups = 0.0;
  double relative_error = 0.0;
};

TfmOnGpu::TfmOnGpu(const ArrayCase& test) : implementation_(std::make_unique<Implementation>(test)) {}
TfmOnGpu::~TfmOnGpu() = default;

double TfmOnGpu::seconds() {
  return implementation_->beamforming.seconds();
}

double TfmOnGpu::ceiling_seconds() {
  Implementation& me = *implementation_;
  return me.loads.seconds() * me.lookups / me.ceilings.loads_of_a_run();
}

double TfmOnGpu::instructions_per_second() {
  return implementation_->ceilings.instructions_of_a_run() / implementation_->instructions.seconds();
}

bool TfmOnGpu::half_path() const {
  return implementation_->half_path;
}

double TfmOnGpu::lookups() const {
  return implementation_->lookups;
}

double TfmOnGpu::relative_error() const {
  return implementation_->relative_error;
}

std::size_t TfmOnGpu::stage_bytes() const {
  std::size_t bytes = 0;
  for (const Implementation::View& view : implementation_->views) bytes += view.stage->bytes();
  return bytes;
}

TfmGpuReport measure_tfm_gpu(const ArrayCase& test, std::size_t rounds) {
  TfmOnGpu stages(test);
  TfmGpuReport report;
  report.half_path = stages.half_path();
  report.lookups = stages.lookups();
  report.relative_error = stages.relative_error();
  report.stage_bytes = stages.stage_bytes();
  report.turns = take_turns(rounds, {{"loads", [&] { return report.lookups / stages.ceiling_seconds(); }},
                                     {"lookups", [&] { return report.lookups / stages.seconds(); }},
                                     {"instructions", [&] { return stages.instructions_per_second(); }}});
  report.lookups_per_second = report.turns.spread("lookups");
  const Spread& rate = report.lookups_per_second;
  report.seconds = {report.lookups / rate.median, report.lookups / rate.most, report.lookups / rate.least};
  return report;
}

}  // namespace echoform::benchmarks
