#include "operators/spherical_model_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cufft_library.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/device_scope.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/on_device.hpp"
#include "operators/host_copies.hpp"
#include "operators/model_on_device.hpp"
#include "operators/spherical_kernels.hpp"
#include "operators/spherical_launch.hpp"
#include "operators/spherical_moments.hpp"
#include "operators/spherical_setup.hpp"

namespace echoform {
namespace {

using gpu::detectors_of_pass;
using gpu::share_of_free_memory;
using gpu::SphericalScene;
using gpu::to_whole;
using gpu::values_of;

/// Maximum number of values in the transforms of a pass, whose indices are ints.
constexpr std::size_t values_at_most = std::size_t{1} << 30;
/// Units of work for each warp that runs at a time, so that none waits long for the last one.
constexpr std::size_t rounds = 2;
/// Share of the device's memory that sums of parts may take.
constexpr double share_of_sums = 0.25;

class SphericalModelCuda final : public LinearOperator, public AdjointOnDevice {
 public:
  SphericalModelCuda(const ModelGeometry& geometry, const SphericalModelOptions& options, ThreadTeam& team, int device)
      : device_(device),
        copies_(device_, team),
        grid_(geometry.grid),
        samples_(geometry.samples),
        detectors_(geometry.detectors.size()),
        time_(spherical_time_grid(geometry, options, spherical_model_name)),
        length_(time_.period * time_.finer),
        levels_(options.rectangular_elements ? spherical::rectangle_grids : 1),
        planes_(levels_ * spherical::moments) {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    const SphericalPlaces places = spherical_places(geometry, time_, options.rectangular_elements);
    describe(places);
    choose_lanes();
    choose_pass();

    listeners_ = gpu::on_device(places.listeners, device_.backend());
    std::vector<std::uint8_t> dead;
    for (const Detector& detector : geometry.detectors) dead.push_back(detector.dead ? 1 : 0);
    dead_ = gpu::on_device(dead, device_.backend());
    std::vector<std::complex<float>> factors;
    for (std::size_t level = 0; level < levels_; ++level) {
      const auto of_level = moment_factors(geometry, options, time_, static_cast<int>(level));
      factors.insert(factors.end(), of_level.begin(), of_level.end());
    }
    factors_ = gpu::on_device(factors, device_.backend());
    image_ = device_.allocate(grid_.pixels() * sizeof(float));
    data_ = device_.allocate(pass_ * samples_ * sizeof(float));
    sums_ = device_.allocate(pass_ * bytes_of_sums());
    moments_ = device_.allocate(pass_ * planes_ * length_ * sizeof(float));
    plane_spectra_ = device_.allocate(pass_ * planes_ * (length_ / 2 + 1) * sizeof(cufftComplex));
    row_spectra_ = device_.allocate(pass_ * (time_.period / 2 + 1) * sizeof(cufftComplex));
    signals_ = device_.allocate(pass_ * time_.period * sizeof(float));
    const std::size_t work = std::max(
        {make_plan(planes_forward_, length_, planes_, CUFFT_R2C), make_plan(planes_backward_, length_, planes_, CUFFT_C2R),
         make_plan(rows_forward_, time_.period, 1, CUFFT_R2C), make_plan(rows_backward_, time_.period, 1, CUFFT_C2R)});
    work_ = device_.allocate(work);
    for (const gpu::FftPlan* const plan : {&planes_forward_, &planes_backward_, &rows_forward_, &rows_backward_}) {
      ECHOFORM_CUFFT(cufft_.set_work_area(plan->get(), work_.data()));
      ECHOFORM_CUFFT(cufft_.set_stream(plan->get(), device_.stream()));
    }
  }

  [[nodiscard]] std::size_t image_size() const noexcept override { return grid_.pixels(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return detectors_ * samples_; }
  /// Bytes on the host. Memory on the device is checked before it is allocated.
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }

  void apply(std::span<const float> image, std::span<float> data) override {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    copies_.to_device(values_of<float>(image_), image);
    for (std::size_t begin = 0; begin < detectors_; begin += pass_) {
      const std::size_t count = std::min(pass_, detectors_ - begin);
      device_.clear(sums_, count * bytes_of_sums());
      gpu::queue_spread({scene_of(begin, count), values_of<const float>(image_), sums_.data(), to_whole(parts_), lanes_},
                        device_.stream());
      gpu::queue_sums(
          {sums_.data(), values_of<float>(moments_), to_whole(count), to_whole(levels_), to_whole(length_), to_whole(parts_)},
          device_.stream());
      ECHOFORM_CUFFT(cufft_.exec_r2c(planes_forward_.get(), values_of<float>(moments_), values_of<cufftComplex>(plane_spectra_)));
      gpu::queue_bands_of_rows(spectra_of(count), device_.stream());
      ECHOFORM_CUFFT(cufft_.exec_c2r(rows_backward_.get(), values_of<cufftComplex>(row_spectra_), values_of<float>(signals_)));
      gpu::queue_data_of_signals(signals_of(begin, count), device_.stream());
      const std::span<float> rows = data.subspan(begin * samples_, count * samples_);
      copies_.to_host(rows, values_of<float>(data_));
    }
    device_.finish();
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    begin_adjoint(data);
    finish_adjoint(image);
  }

  [[nodiscard]] AdjointOnDevice* on_device() noexcept override { return this; }
  [[nodiscard]] float* device_image() noexcept override { return values_of<float>(image_); }

  void begin_adjoint(std::span<const float> data) override {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    device_.clear(image_, image_.size());
    for (std::size_t begin = 0; begin < detectors_; begin += pass_) {
      const std::size_t count = std::min(pass_, detectors_ - begin);
      const std::span<const float> rows = data.subspan(begin * samples_, count * samples_);
      copies_.to_device(values_of<float>(data_), rows);
      gpu::queue_signals_of_data(signals_of(begin, count), device_.stream());
      ECHOFORM_CUFFT(cufft_.exec_r2c(rows_forward_.get(), values_of<float>(signals_), values_of<cufftComplex>(row_spectra_)));
      gpu::queue_bands_of_planes(spectra_of(count), device_.stream());
      ECHOFORM_CUFFT(
          cufft_.exec_c2r(planes_backward_.get(), values_of<cufftComplex>(plane_spectra_), values_of<float>(moments_)));
      gpu::queue_gather({scene_of(begin, count), values_of<const float>(moments_), values_of<float>(image_)}, device_.stream());
    }
    device_.finish();
  }

  void finish_adjoint(std::span<float> image) override {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    copies_.to_host(image, values_of<float>(image_));
  }

 private:
  void describe(const SphericalPlaces& places) {
    const std::int64_t voxels[3] = {to_whole(grid_.x.count), to_whole(grid_.y.count), to_whole(grid_.z.count)};
    const CountedCells counted = counted_cells(time_);
    const double spacing = places.lattice.spacing;
    scene_.tiles = spherical::tiles_of_grid(voxels, spacing, to_whole(time_.transit));
    scene_.lattice = places.lattice;
    scene_.shift = places.shift;
    scene_.least = static_cast<float>(1e-4 * spacing * spacing);
    scene_.first = counted.first;
    scene_.last = counted.last;
    scene_.length = to_whole(length_);
    scene_.levels = to_whole(levels_);
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
    const std::size_t most = std::min(detectors_of_pass, by_index);
    const std::size_t passes = (detectors_ + most - 1) / most;
    pass_ = (detectors_ + passes - 1) / passes;
    // The parts depend only on the device, not on its free memory, and so do the bits.
    const std::size_t groups = (pass_ + static_cast<std::size_t>(lanes_) - 1) / static_cast<std::size_t>(lanes_);
    const auto warps = static_cast<std::size_t>(gpu::spread_warps(scene_, lanes_));
    parts_ = std::clamp<std::size_t>(rounds * warps / groups, 1, static_cast<std::size_t>(spherical::tiles_of(scene_.tiles)));
    const DeviceMemory memory = device_memory(device_.number());
    const double of_parts = share_of_sums * static_cast<double>(memory.total) /
                            static_cast<double>(pass_ * levels_ * length_ * gpu::spread_cell_bytes(levels_ > 1));
    parts_ = std::clamp<std::size_t>(static_cast<std::size_t>(of_parts), 1, parts_);
    while (pass_ > 1 && static_cast<double>(need()) > share_of_free_memory * static_cast<double>(memory.free))
      pass_ = (pass_ + 1) / 2;
    require_device_memory(device_.number(), need(), "a smaller grid, or backend = \"cpu\"");
  }

  /// Bytes needed on the device. The transforms are assumed to need as much memory as they transform.
  [[nodiscard]] std::size_t need() const {
    const std::size_t spectra = planes_ * (length_ / 2 + 1) * sizeof(cufftComplex);
    const std::size_t of_detector = bytes_of_sums() + planes_ * length_ * sizeof(float) + 2 * spectra +
                                    2 * (time_.period + 2) * sizeof(float) + samples_ * sizeof(float);
    return grid_.pixels() * sizeof(float) + detectors_ * (sizeof(spherical::Listener) + 1) + pass_ * of_detector +
           planes_ * time_.bands * sizeof(cufftComplex);
  }

  [[nodiscard]] std::size_t bytes_of_sums() const { return parts_ * levels_ * length_ * gpu::spread_cell_bytes(levels_ > 1); }

  /// Plans transforms of `count` rows for each detector of a pass. Returns the bytes of the work area.
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
    scene.listeners = values_of<const spherical::Listener>(listeners_) + begin;
    scene.detectors = to_whole(count);
    return scene;
  }

  [[nodiscard]] gpu::SpectrumTask spectra_of(std::size_t count) const {
    return {values_of<float2>(plane_spectra_),
            values_of<float2>(row_spectra_),
            values_of<const float2>(factors_),
            to_whole(count),
            to_whole(planes_),
            to_whole(time_.bands),
            to_whole(length_),
            to_whole(time_.period)};
  }

  [[nodiscard]] gpu::SignalTask signals_of(std::size_t begin, std::size_t count) const {
    return {values_of<float>(signals_),
            values_of<float>(data_),
            values_of<const std::uint8_t>(dead_) + begin,
            to_whole(count),
            to_whole(samples_),
            to_whole(time_.period),
            to_whole(time_.before)};
  }

  const gpu::CufftLibrary& cufft_ = gpu::cufft_library();
  gpu::ModelDevice device_;
  gpu::HostCopies copies_;
  Grid grid_;
  std::size_t samples_;
  std::size_t detectors_;
  SphericalTimeGrid time_;
  std::size_t length_;  // of the grid in time, in its samples
  std::size_t levels_;  // number of levels of integration
  std::size_t planes_;  // levels times moments
  SphericalScene scene_{};
  std::int32_t lanes_ = 32;
  std::size_t pass_ = 0;   // detectors in a pass
  std::size_t parts_ = 0;  // parts of the image that are summed separately
  gpu::FftPlan planes_forward_, planes_backward_, rows_forward_, rows_backward_;
  Buffer listeners_, dead_, factors_;
  Buffer image_, data_, sums_, moments_, plane_spectra_, row_spectra_, signals_, work_;
};

}  // namespace

std::unique_ptr<LinearOperator> make_spherical_model_cuda(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                          ThreadTeam& team, int device) {
  return std::make_unique<SphericalModelCuda>(geometry, options, team, device);
}

}  // namespace echoform
