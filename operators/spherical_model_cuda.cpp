#include "operators/spherical_model_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cufft_library.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/device_scope.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/on_device.hpp"
#include "gpu/stream.hpp"
#include "operators/spherical_kernels.hpp"
#include "operators/spherical_launch.hpp"
#include "operators/spherical_moments.hpp"
#include "operators/spherical_setup.hpp"

namespace echoform {
namespace {

using gpu::SphericalScene;

/// Detectors of a pass: enough to keep a device busy.
constexpr std::size_t pass_at_most = 1024;
/// Values of the transforms of a pass, whose indices are ints.
constexpr std::size_t values_at_most = std::size_t{1} << 30;
/// Units of work for each warp that works at a time, so that none waits long for the last one.
constexpr std::size_t rounds = 3;
/// Of the device's memory, what sums of parts may take, and of what is free, what all may.
constexpr double share_of_sums = 0.25;
constexpr double share_of_free = 0.9;

template <class T>
T* as(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}

std::int32_t whole(std::size_t value) {
  return static_cast<std::int32_t>(value);
}

class SphericalModelCuda final : public LinearOperator {
 public:
  SphericalModelCuda(const ModelGeometry& geometry, const SphericalModelOptions& options, int device)
      : backend_(make_cuda_backend(device)),
        device_(device),
        grid_(geometry.grid),
        samples_(geometry.samples),
        detectors_(geometry.detectors.size()),
        time_(spherical_time_grid(geometry, options, spherical_model_name)),
        length_(time_.period * time_.finer),
        levels_(options.rectangular_elements ? spherical::rectangle_grids : 1),
        planes_(levels_ * spherical::moments) {
    const gpu::DeviceScope scope(device_);
    ECHOFORM_CUDA(scope.error());
    const SphericalPlaces places = spherical_places(geometry, time_, options.rectangular_elements);
    describe(places);
    choose_lanes();
    choose_pass();

    stream_ = gpu::make_stream();
    listeners_ = gpu::on_device(places.listeners, *backend_);
    std::vector<std::uint8_t> dead;
    for (const Detector& detector : geometry.detectors) dead.push_back(detector.dead ? 1 : 0);
    dead_ = gpu::on_device(dead, *backend_);
    std::vector<std::complex<float>> factors;
    for (std::size_t level = 0; level < levels_; ++level) {
      const auto of_level = moment_factors(geometry, options, time_, static_cast<int>(level));
      factors.insert(factors.end(), of_level.begin(), of_level.end());
    }
    factors_ = gpu::on_device(factors, *backend_);
    image_ = allocate(grid_.pixels() * sizeof(float));
    data_ = allocate(pass_ * samples_ * sizeof(float));
    sums_ = allocate(pass_ * bytes_of_sums());
    moments_ = allocate(pass_ * planes_ * length_ * sizeof(float));
    plane_spectra_ = allocate(pass_ * planes_ * (length_ / 2 + 1) * sizeof(cufftComplex));
    row_spectra_ = allocate(pass_ * (time_.period / 2 + 1) * sizeof(cufftComplex));
    signals_ = allocate(pass_ * time_.period * sizeof(float));
    const std::size_t work = std::max(
        {make_plan(planes_forward_, length_, planes_, CUFFT_R2C), make_plan(planes_backward_, length_, planes_, CUFFT_C2R),
         make_plan(rows_forward_, time_.period, 1, CUFFT_R2C), make_plan(rows_backward_, time_.period, 1, CUFFT_C2R)});
    work_ = allocate(work);
    for (const gpu::FftPlan* const plan : {&planes_forward_, &planes_backward_, &rows_forward_, &rows_backward_}) {
      ECHOFORM_CUFFT(cufft_.set_work_area(plan->get(), work_.data()));
      ECHOFORM_CUFFT(cufft_.set_stream(plan->get(), stream_.get()));
    }
  }

  [[nodiscard]] std::size_t image_size() const noexcept override { return grid_.pixels(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return detectors_ * samples_; }
  /// Of the host: what is on the device is checked before it is taken.
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }

  void apply(std::span<const float> image, std::span<float> data) override {
    const gpu::DeviceScope scope(device_);
    ECHOFORM_CUDA(scope.error());
    copy(image_.data(), image.data(), image.size_bytes());
    for (std::size_t begin = 0; begin < detectors_; begin += pass_) {
      const std::size_t count = std::min(pass_, detectors_ - begin);
      ECHOFORM_CUDA(cudaMemsetAsync(sums_.data(), 0, count * bytes_of_sums(), stream_.get()));
      gpu::queue_spread({scene_of(begin, count), as<const float>(image_), sums_.data(), whole(parts_), lanes_}, stream_.get());
      gpu::queue_sums({sums_.data(), as<float>(moments_), whole(count), whole(levels_), whole(length_), whole(parts_)},
                      stream_.get());
      ECHOFORM_CUFFT(cufft_.exec_r2c(planes_forward_.get(), as<float>(moments_), as<cufftComplex>(plane_spectra_)));
      gpu::queue_bands_of_rows(spectra_of(count), stream_.get());
      ECHOFORM_CUFFT(cufft_.exec_c2r(rows_backward_.get(), as<cufftComplex>(row_spectra_), as<float>(signals_)));
      gpu::queue_data_of_signals(signals_of(begin, count), stream_.get());
      const std::span<float> rows = data.subspan(begin * samples_, count * samples_);
      copy(rows.data(), data_.data(), rows.size_bytes());
    }
    ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get()));
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    const gpu::DeviceScope scope(device_);
    ECHOFORM_CUDA(scope.error());
    ECHOFORM_CUDA(cudaMemsetAsync(image_.data(), 0, image.size_bytes(), stream_.get()));
    for (std::size_t begin = 0; begin < detectors_; begin += pass_) {
      const std::size_t count = std::min(pass_, detectors_ - begin);
      const std::span<const float> rows = data.subspan(begin * samples_, count * samples_);
      copy(data_.data(), rows.data(), rows.size_bytes());
      gpu::queue_signals_of_data(signals_of(begin, count), stream_.get());
      ECHOFORM_CUFFT(cufft_.exec_r2c(rows_forward_.get(), as<float>(signals_), as<cufftComplex>(row_spectra_)));
      gpu::queue_bands_of_planes(spectra_of(count), stream_.get());
      ECHOFORM_CUFFT(cufft_.exec_c2r(planes_backward_.get(), as<cufftComplex>(plane_spectra_), as<float>(moments_)));
      gpu::queue_gather({scene_of(begin, count), as<const float>(moments_), as<float>(image_)}, stream_.get());
    }
    copy(image.data(), image_.data(), image.size_bytes());
    ECHOFORM_CUDA(cudaStreamSynchronize(stream_.get()));
  }

 private:
  void describe(const SphericalPlaces& places) {
    const std::int64_t voxels[3] = {whole(grid_.x.count), whole(grid_.y.count), whole(grid_.z.count)};
    const CountedCells counted = counted_cells(time_);
    const double spacing = places.lattice.spacing;
    scene_.tiles = spherical::tiles_of_grid(voxels, spacing, whole(time_.transit));
    scene_.lattice = places.lattice;
    scene_.shift = places.shift;
    scene_.least = static_cast<float>(1e-4 * spacing * spacing);
    scene_.first = counted.first;
    scene_.last = counted.last;
    scene_.length = whole(length_);
    scene_.levels = whole(levels_);
  }

  void choose_lanes() {
    const std::size_t most = block_memory();
    lanes_ = 32;
    while (lanes_ > 0 && gpu::spread_bytes(scene_, lanes_) > most) lanes_ /= 2;
    if (lanes_ > 0 && gpu::allow_gather(scene_)) return;
    throw InputError(fmt::format("{} on CUDA", spherical_model_name),
                     fmt::format("{} voxels that sound takes {} samples to cross, elements counted in", spherical::tile_edge,
                                 scene_.tiles.window),
                     "voxels closer together, smaller elements, or backend = \"cpu\"");
  }

  void choose_pass() {
    const std::size_t by_index = std::max<std::size_t>(1, values_at_most / (planes_ * length_));
    const std::size_t most = std::min(pass_at_most, by_index);
    const std::size_t passes = (detectors_ + most - 1) / most;
    pass_ = (detectors_ + passes - 1) / passes;
    // Parts depend on the device alone, not on what is free: so do the bits.
    const std::size_t groups = (pass_ + static_cast<std::size_t>(lanes_) - 1) / static_cast<std::size_t>(lanes_);
    const auto warps = static_cast<std::size_t>(gpu::spread_warps(scene_, lanes_));
    parts_ = std::clamp<std::size_t>(rounds * warps / groups, 1, static_cast<std::size_t>(spherical::tiles_of(scene_.tiles)));
    const DeviceMemory memory = device_memory(device_);
    const double of_parts = share_of_sums * static_cast<double>(memory.total) /
                            static_cast<double>(pass_ * levels_ * length_ * gpu::spread_cell_bytes(levels_ > 1));
    parts_ = std::clamp<std::size_t>(static_cast<std::size_t>(of_parts), 1, parts_);
    while (pass_ > 1 && static_cast<double>(need()) > share_of_free * static_cast<double>(memory.free)) pass_ = (pass_ + 1) / 2;
    require_device_memory(device_, need(), "a smaller grid, or backend = \"cpu\"");
  }

  /// Bytes of the device; of the transforms' own as much as they transform.
  [[nodiscard]] std::size_t need() const {
    const std::size_t spectra = planes_ * (length_ / 2 + 1) * sizeof(cufftComplex);
    const std::size_t of_detector = bytes_of_sums() + planes_ * length_ * sizeof(float) + 2 * spectra +
                                    2 * (time_.period + 2) * sizeof(float) + samples_ * sizeof(float);
    return grid_.pixels() * sizeof(float) + detectors_ * (sizeof(spherical::Listener) + 1) + pass_ * of_detector +
           planes_ * time_.bands * sizeof(cufftComplex);
  }

  [[nodiscard]] std::size_t bytes_of_sums() const { return parts_ * levels_ * length_ * gpu::spread_cell_bytes(levels_ > 1); }

  [[nodiscard]] Buffer allocate(std::size_t bytes) const { return backend_->allocate(bytes, MemoryUse::working); }

  void copy(void* to, const void* from, std::size_t bytes) const {
    ECHOFORM_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()));
  }

  /// Of `count` rows for each detector of a pass; the bytes that it works in.
  [[nodiscard]] std::size_t make_plan(const gpu::FftPlan& plan, std::size_t length, std::size_t count, cufftType type) const {
    int size = static_cast<int>(length);
    int reals = size;
    int complexes = size / 2 + 1;
    int* const from = type == CUFFT_R2C ? &reals : &complexes;
    int* const to = type == CUFFT_R2C ? &complexes : &reals;
    std::size_t bytes = 0;
    ECHOFORM_CUFFT(cufft_.set_auto_allocation(plan.get(), 0));
    ECHOFORM_CUFFT(
        cufft_.make_plan_many(plan.get(), 1, &size, from, 1, *from, to, 1, *to, type, static_cast<int>(pass_ * count), &bytes));
    return bytes;
  }

  [[nodiscard]] SphericalScene scene_of(std::size_t begin, std::size_t count) const {
    SphericalScene scene = scene_;
    scene.listeners = as<const spherical::Listener>(listeners_) + begin;
    scene.dead = as<const std::uint8_t>(dead_) + begin;
    scene.detectors = whole(count);
    return scene;
  }

  [[nodiscard]] gpu::SpectrumTask spectra_of(std::size_t count) const {
    return {as<float2>(plane_spectra_), as<float2>(row_spectra_), as<const float2>(factors_), whole(count), whole(planes_),
            whole(time_.bands),         whole(length_),           whole(time_.period)};
  }

  [[nodiscard]] gpu::SignalTask signals_of(std::size_t begin, std::size_t count) const {
    return {as<float>(signals_), as<float>(data_),   as<const std::uint8_t>(dead_) + begin, whole(count), whole(samples_),
            whole(time_.period), whole(time_.before)};
  }

  const gpu::CufftLibrary& cufft_ = gpu::cufft_library();
  std::unique_ptr<Backend> backend_;
  int device_;
  Grid grid_;
  std::size_t samples_;
  std::size_t detectors_;
  SphericalTimeGrid time_;
  std::size_t length_;  // of the grid in time
  std::size_t levels_;  // of integration
  std::size_t planes_;  // levels and moments
  SphericalScene scene_{};
  std::int32_t lanes_ = 32;
  std::size_t pass_ = 0;   // detectors at a time
  std::size_t parts_ = 0;  // of the image, that are summed apart
  gpu::Stream stream_;
  gpu::FftPlan planes_forward_, planes_backward_, rows_forward_, rows_backward_;
  Buffer listeners_, dead_, factors_;
  Buffer image_, data_, sums_, moments_, plane_spectra_, row_spectra_, signals_, work_;
};

}  // namespace

std::unique_ptr<LinearOperator> make_spherical_model_cuda(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                          int device) {
  return std::make_unique<SphericalModelCuda>(geometry, options, device);
}

}  // namespace echoform
