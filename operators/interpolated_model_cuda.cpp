#include "operators/interpolated_model_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device_scope.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/on_device.hpp"
#include "operators/host_copies.hpp"
#include "operators/interpolated_frame.hpp"
#include "operators/interpolated_launch.hpp"
#include "operators/model_on_device.hpp"

namespace echoform {
namespace {

using gpu::detectors_of_pass;
using gpu::InterpolatedScene;
using gpu::share_of_free_memory;
using gpu::to_whole;
using gpu::values_of;
using interpolated::AngleEntry;
using interpolated::DetectorFrame;
using interpolated::RingFrame;
using interpolated::ShellEntry;

/// Passes consist of whole groups that the adjoint adds up at a time, so that its bits do not depend on the number of passes.
constexpr std::size_t pass_at_least = 16;

class InterpolatedModelCuda final : public LinearOperator, public AdjointOnDevice {
 public:
  InterpolatedModelCuda(const ModelGeometry& geometry, ThreadTeam& team, int device)
      : device_(device),
        copies_(device_, team),
        grid_(geometry.grid),
        samples_(geometry.samples),
        detectors_(geometry.detectors.size()) {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    gpu::allow_integrals();
    gpu::allow_scatter();
    describe(geometry);
    choose_pass();

    std::vector<DetectorFrame> frames;
    std::vector<RingFrame> ring_frames;
    std::vector<std::uint8_t> dead;
    for (const Detector& detector : geometry.detectors) {
      frames.push_back(interpolated::frame_of(detector, grid_));
      ring_frames.push_back(interpolated::ring_frame_of(frames.back()));
      dead.push_back(detector.dead ? 1 : 0);
    }
    std::vector<AngleEntry> angles;
    for (std::int32_t k = 0; k <= interpolated::angle_steps; ++k) angles.push_back(interpolated::angle_entry(k));
    frames_ = gpu::on_device(frames, device_.backend());
    ring_frames_ = gpu::on_device(ring_frames, device_.backend());
    angles_ = gpu::on_device(angles, device_.backend());
    dead_ = gpu::on_device(dead, device_.backend());
    image_ = device_.allocate(grid_.pixels() * sizeof(float));
    sums_ = device_.allocate(bricks_ * interpolated::brick_voxels * sizeof(float));
    data_ = device_.allocate(pass_ * samples_ * sizeof(float));
    shells_ = device_.allocate(pass_ * edges_ * sizeof(ShellEntry));
    edge_sums_ = device_.allocate(pass_ * edges_ * sizeof(double));
    edge_values_ = device_.allocate(pass_ * edges_ * sizeof(float));
    parts_ = device_.allocate(pass_ * bricks_ * slots_ * sizeof(float));
    starts_ = device_.allocate(pass_ * bricks_ * sizeof(std::int32_t));
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
      const gpu::IntegralTask task{scene_of(begin, count), values_of<const float>(image_), values_of<float>(parts_),
                                   values_of<std::int32_t>(starts_)};
      gpu::queue_shells(task.scene, device_.stream());
      gpu::queue_integrals(task, device_.stream());
      gpu::queue_differences(task, values_of<double>(edge_sums_), values_of<float>(data_), device_.stream());
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
    device_.clear(sums_, sums_.size());
    for (std::size_t begin = 0; begin < detectors_; begin += pass_) {
      const std::size_t count = std::min(pass_, detectors_ - begin);
      const std::span<const float> rows = data.subspan(begin * samples_, count * samples_);
      copies_.to_device(values_of<float>(data_), rows);
      const InterpolatedScene scene = scene_of(begin, count);
      gpu::queue_shells(scene, device_.stream());
      gpu::queue_edges(scene, values_of<const float>(data_), values_of<float>(edge_values_), device_.stream());
      gpu::queue_scatter({scene, values_of<const float>(edge_values_), values_of<float>(sums_)}, device_.stream());
    }
    gpu::queue_image(scene_, values_of<const float>(sums_), values_of<float>(image_), device_.stream());
    device_.finish();
  }

  void finish_adjoint(std::span<float> image) override {
    const gpu::DeviceScope scope(device_.number());
    ECHOFORM_CUDA(scope.error());
    copies_.to_host(image, values_of<float>(image_));
  }

 private:
  void describe(const ModelGeometry& geometry) {
    const double spacing_time = (voxel_spacing(grid_) / geometry.velocity).value;
    const double rate = geometry.sample_rate.value;
    const std::int32_t voxels[3] = {to_whole(grid_.x.count), to_whole(grid_.y.count), to_whole(grid_.z.count)};
    edges_ = samples_ + 1;
    scene_.bricks = interpolated::bricks_of_grid(voxels);
    // The first radius belongs to half a sample before the first one; the others follow at intervals of a sample.
    scene_.radii = {(geometry.start_time.value - 0.5 / rate) / spacing_time, 1.0 / (rate * spacing_time), to_whole(edges_)};
    scene_.scale = spacing_time * rate;
    scene_.slots = interpolated::edges_at_most(scene_.radii);
    scene_.samples = to_whole(samples_);
    bricks_ = static_cast<std::size_t>(interpolated::bricks_of(scene_.bricks));
    slots_ = static_cast<std::size_t>(scene_.slots);
  }

  void choose_pass() {
    const auto rounded = [](std::size_t count) { return (count + pass_at_least - 1) / pass_at_least * pass_at_least; };
    const std::size_t passes = (detectors_ + detectors_of_pass - 1) / detectors_of_pass;
    pass_ = rounded((detectors_ + passes - 1) / passes);
    const DeviceMemory memory = device_memory(device_.number());
    while (pass_ > pass_at_least && static_cast<double>(need()) > share_of_free_memory * static_cast<double>(memory.free))
      pass_ = rounded(pass_ / 2);
    require_device_memory(device_.number(), need(), "a smaller grid, or backend = \"cpu\"");
  }

  /// Bytes needed on the device.
  [[nodiscard]] std::size_t need() const {
    const std::size_t of_edge = sizeof(ShellEntry) + sizeof(double) + sizeof(float);
    const std::size_t of_detector =
        bricks_ * (slots_ * sizeof(float) + sizeof(std::int32_t)) + edges_ * of_edge + samples_ * sizeof(float);
    return (grid_.pixels() + bricks_ * interpolated::brick_voxels) * sizeof(float) +
           detectors_ * (sizeof(DetectorFrame) + sizeof(RingFrame) + 1) + pass_ * of_detector;
  }

  [[nodiscard]] InterpolatedScene scene_of(std::size_t begin, std::size_t count) const {
    InterpolatedScene scene = scene_;
    scene.frames = values_of<const DetectorFrame>(frames_) + begin;
    scene.ring_frames = values_of<const RingFrame>(ring_frames_) + begin;
    scene.angles = values_of<const AngleEntry>(angles_);
    scene.dead = values_of<const std::uint8_t>(dead_) + begin;
    scene.shells = values_of<ShellEntry>(shells_);
    scene.detectors = to_whole(count);
    return scene;
  }

  gpu::ModelDevice device_;
  gpu::HostCopies copies_;
  Grid grid_;
  std::size_t samples_;
  std::size_t detectors_;
  std::size_t edges_ = 0;  // spheres for each detector
  std::size_t bricks_ = 0;
  std::size_t slots_ = 0;  // edges for each brick
  InterpolatedScene scene_{};
  std::size_t pass_ = 0;  // detectors at a time
  Buffer frames_, ring_frames_, angles_, dead_, image_, sums_, data_, shells_, edge_sums_, edge_values_, parts_, starts_;
};

}  // namespace

std::unique_ptr<LinearOperator> make_interpolated_model_cuda(const ModelGeometry& geometry, ThreadTeam& team, int device) {
  return std::make_unique<InterpolatedModelCuda>(geometry, team, device);
}

}  // namespace echoform
