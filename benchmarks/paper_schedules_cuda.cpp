#include "benchmarks/paper_schedules.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <random>

#include "base/errors.hpp"
#include "benchmarks/array_case.hpp"
#include "benchmarks/device_timing.hpp"
#include "benchmarks/direct_image.hpp"
#include "benchmarks/paper_kernels.hpp"
#include "benchmarks/stopwatch.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cufft_library.hpp"
#include "gpu/stream_queue.hpp"

namespace echoform::benchmarks {
namespace {

class Texture {
 public:
  Texture(const cudaResourceDesc& resource, cudaTextureFilterMode filter) {
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = filter;
    description.readMode = cudaReadModeElementType;
    ECHOFORM_CUDA(cudaCreateTextureObject(&texture_, &resource, &description, nullptr));
  }
  ~Texture() { static_cast<void>(cudaDestroyTextureObject(texture_)); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  [[nodiscard]] cudaTextureObject_t get() const { return texture_; }

 private:
  cudaTextureObject_t texture_ = 0;
};

cudaResourceDesc rows_resource(const Buffer& rows, std::size_t samples, std::size_t count, std::size_t stride) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows.data();
  resource.res.pitch2D.desc = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
  resource.res.pitch2D.width = samples;
  resource.res.pitch2D.height = count;
  resource.res.pitch2D.pitchInBytes = stride * sizeof(float2);
  return resource;
}

cudaResourceDesc line_resource(const Buffer& values) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = values.data();
  resource.res.linear.desc = cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = values.size();
  return resource;
}

/// The paper's chain on one stream: all objects are created once and then process frames.
class PaperChain {
 public:
  explicit PaperChain(const PaperCase& test)
      : plan_(plan_for(test)), backend_(make_cuda_backend()), queue_(backend_->make_queue()), stream_(gpu::stream_of(*queue_)) {
    const std::size_t pixels = plan_.grid.pixels();
    pairs_ = plan_.acquisition.a_scans();
    samples_ = plan_.acquisition.samples;
    // Rows of a texture begin at multiples of 32 bytes.
    stride_ = (samples_ + 31) / 32 * 32;
    host_counts_ = backend_->allocate(pairs_ * samples_ * sizeof(std::int16_t), MemoryUse::staging);
    counts_ = backend_->allocate(host_counts_.size(), MemoryUse::working);
    values_ = backend_->allocate(pairs_ * samples_ * sizeof(float), MemoryUse::working);
    rows_ = backend_->allocate(pairs_ * stride_ * sizeof(float2), MemoryUse::working);
    low_resolution_ = backend_->allocate(test.elements * pixels * sizeof(float2), MemoryUse::working);
    envelope_ = backend_->allocate(pixels * sizeof(float), MemoryUse::working);
    host_envelope_ = backend_->allocate(envelope_.size(), MemoryUse::readback);
    fill_counts();
    place_pixels_and_elements();
    signals_ = std::make_unique<Texture>(rows_resource(rows_, samples_, pairs_, stride_), cudaFilterModeLinear);
    coordinate_texture_ = std::make_unique<Texture>(line_resource(coordinates_), cudaFilterModePoint);
    plan_transforms();

    task_.rows = static_cast<const float2*>(rows_.data());
    task_.stride = stride_;
    task_.samples = static_cast<std::uint32_t>(samples_);
    task_.elements = static_cast<std::uint32_t>(test.elements);
    task_.coordinates = static_cast<const float2*>(coordinates_.data());
    task_.signals = signals_->get();
    task_.coordinate_texture = coordinate_texture_->get();
    task_.element_x = static_cast<const float*>(element_x_.data());
    task_.nx = static_cast<std::uint32_t>(plan_.grid.x.count);
    task_.nz = static_cast<std::uint32_t>(plan_.grid.z.count);
    task_.samples_per_metre =
        static_cast<float>(plan_.acquisition.sample_rate.value / plan_.material.longitudinal_velocity.value);
    task_.low_resolution = static_cast<float2*>(low_resolution_.data());
    task_.envelope = static_cast<float*>(envelope_.data());
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  void upload() {
    ECHOFORM_CUDA(cudaMemcpyAsync(counts_.data(), host_counts_.data(), counts_.size(), cudaMemcpyHostToDevice, stream_));
  }
  void hilbert() {
    const gpu::CufftLibrary& cufft = gpu::cufft_library();
    auto* rows = static_cast<cufftComplex*>(rows_.data());
    launch_paper_unpack(static_cast<const std::int16_t*>(counts_.data()), static_cast<float*>(values_.data()), pairs_ * samples_,
                        stream_);
    ECHOFORM_CUFFT(cufft.exec_r2c(forward_.get(), static_cast<float*>(values_.data()), rows));
    launch_paper_mask(rows, pairs_, static_cast<std::uint32_t>(samples_), stride_, stream_);
    ECHOFORM_CUFFT(cufft.exec_c2c(inverse_.get(), rows, rows, CUFFT_INVERSE));
  }
  void beamform(void (*launch)(const PaperTask&, cudaStream_t)) { launch(task_, stream_); }
  void download() {
    ECHOFORM_CUDA(cudaMemcpyAsync(host_envelope_.data(), envelope_.data(), envelope_.size(), cudaMemcpyDeviceToHost, stream_));
  }
  void finish() { queue_->finish(); }

  [[nodiscard]] DirectImage truth() {
    DeviceRows rows;
    rows.data = static_cast<float2*>(rows_.data());
    rows.rows = pairs_;
    rows.samples = samples_;
    rows.stride = stride_;
    return direct_image(plan_, 0, rows, summed_pairs(plan_.acquisition.elements()), stream_);
  }
  [[nodiscard]] double envelope_error(const DirectImage& truth) const {
    const auto* found = static_cast<const float*>(host_envelope_.data());
    double error = 0.0;
    double norm = 0.0;
    for (std::size_t k = 0; k < truth.image.size(); ++k) {
      const double expected = std::abs(truth.image[k]);
      error += (found[k] - expected) * (found[k] - expected);
      norm += expected * expected;
    }
    return std::sqrt(error / norm);
  }

 private:
  static ImagingPlan plan_for(const PaperCase& test) {
    if (test.elements < 1 || test.elements > paper_elements) {
      throw InputError("paper schedules", fmt::format("{} elements", test.elements), fmt::format("1 to {}", paper_elements));
    }
    ArrayCase array;
    array.elements = test.elements;
    array.samples = test.samples;
    array.pixels = test.pixels;
    array.matrix = MatrixKind::half_summed;
    return array_plan(array);
  }

  /// Fills the counts with sums of two 12-bit counts.
  void fill_counts() {
    std::minstd_rand random(3);
    auto* counts = static_cast<std::int16_t*>(host_counts_.data());
    for (std::size_t k = 0; k < pairs_ * samples_; ++k) counts[k] = static_cast<std::int16_t>(random() % 8192U - 4096U);
  }

  void place_pixels_and_elements() {
    std::vector<float2> places;
    for (const Point& point : plan_.grid.points()) {
      places.push_back({static_cast<float>(point.x.value), static_cast<float>(point.z.value)});
    }
    coordinates_ = backend_->allocate(places.size() * sizeof(float2), MemoryUse::working);
    copy_now(coordinates_.data(), places.data(), coordinates_.size());
    std::vector<float> elements;
    for (const Element& element : plan_.acquisition.probe.elements)
      elements.push_back(static_cast<float>(element.centre.x.value));
    element_x_ = backend_->allocate(elements.size() * sizeof(float), MemoryUse::working);
    copy_now(element_x_.data(), elements.data(), element_x_.size());
    set_paper_constants(elements.data(), static_cast<std::uint32_t>(elements.size()));
  }

  void plan_transforms() {
    const gpu::CufftLibrary& cufft = gpu::cufft_library();
    int length = static_cast<int>(samples_);
    int whole = length;
    int spaced = static_cast<int>(stride_);
    std::size_t scratch = 0;
    ECHOFORM_CUFFT(cufft.make_plan_many(forward_.get(), 1, &length, &whole, 1, whole, &spaced, 1, spaced, CUFFT_R2C,
                                        static_cast<int>(pairs_), &scratch));
    ECHOFORM_CUFFT(cufft.make_plan_many(inverse_.get(), 1, &length, &spaced, 1, spaced, &spaced, 1, spaced, CUFFT_C2C,
                                        static_cast<int>(pairs_), &scratch));
    ECHOFORM_CUFFT(cufft.set_stream(forward_.get(), stream_));
    ECHOFORM_CUFFT(cufft.set_stream(inverse_.get(), stream_));
  }

  ImagingPlan plan_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
  cudaStream_t stream_;
  std::size_t pairs_ = 0;
  std::size_t samples_ = 0;
  std::size_t stride_ = 0;
  Buffer host_counts_;
  Buffer counts_;
  Buffer values_;
  Buffer rows_;
  Buffer low_resolution_;
  Buffer envelope_;
  Buffer host_envelope_;
  Buffer coordinates_;
  Buffer element_x_;
  std::unique_ptr<Texture> signals_;
  std::unique_ptr<Texture> coordinate_texture_;
  gpu::FftPlan forward_;
  gpu::FftPlan inverse_;
  PaperTask task_;
};

}  // namespace

PaperReport measure_paper_schedules(const PaperCase& test, const std::vector<OtherSchedule>& others) {
  PaperReport report;
  report.measured = test;
  PaperChain chain(test);
  report.upload_seconds = seconds_on_device(chain.stream(), test.rounds, [&] { chain.upload(); });
  report.hilbert_seconds = seconds_on_device(chain.stream(), test.rounds, [&] { chain.hilbert(); });
  const DirectImage truth = chain.truth();
  report.lookups = truth.lookups;

  struct Schedule {
    const char* name;
    void (*launch)(const PaperTask&, cudaStream_t);
  };
  constexpr Schedule schedules[] = {{"GPU1", launch_paper_gpu1}, {"GPU1op", launch_paper_gpu1_op}, {"GPU2", launch_paper_gpu2}};
  const auto frame_of = [&](const Schedule& schedule) {
    const auto begin = std::chrono::steady_clock::now();
    chain.upload();
    chain.hilbert();
    chain.beamform(schedule.launch);
    chain.download();
    chain.finish();
    return seconds_since(begin);
  };
  std::vector<std::unique_ptr<DeviceTimer>> timers;
  std::vector<Turn> kernels;
  std::vector<Turn> frames;
  for (const Schedule& schedule : schedules) {
    timers.push_back(std::make_unique<DeviceTimer>(chain.stream(), [&] { chain.beamform(schedule.launch); }));
    kernels.push_back({schedule.name, [timer = timers.back().get()] { return timer->seconds(); }});
    frames.push_back({schedule.name, [&] { return frame_of(schedule); }});
  }
  for (const OtherSchedule& other : others) {
    kernels.push_back({other.schedule, other.kernel_seconds});
    frames.push_back({other.schedule, other.frame_seconds});
  }
  report.kernels = take_turns(test.rounds, kernels);
  static_cast<void>(take_turns(2, frames));
  report.frames = take_turns(test.rounds, frames);
  for (const Schedule& schedule : schedules) {
    static_cast<void>(frame_of(schedule));
    report.schedules.push_back(
        {schedule.name, report.kernels.spread(schedule.name), report.frames.spread(schedule.name), chain.envelope_error(truth)});
  }
  return report;
}

}  // namespace echoform::benchmarks
