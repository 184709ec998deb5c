#include "operators/interpolated_model.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operators/half_sample_difference.hpp"
#include "operators/interpolated_frame.hpp"
#include "operators/interpolated_kernels.hpp"
#include "operators/interpolated_math.hpp"
#include "operators/interpolated_model_cuda.hpp"

namespace echoform {
namespace {

using interpolated::DetectorFrame;
using interpolated::RingTask;
using interpolated::Shell;

class InterpolatedModel final : public LinearOperator {
 public:
  InterpolatedModel(const ModelGeometry& geometry, ThreadTeam& team, SimdLevel instructions)
      : grid_(geometry.grid),
        samples_(geometry.samples),
        rate_(geometry.sample_rate.value),
        start_(geometry.start_time.value),
        spacing_time_((voxel_spacing(geometry.grid) / geometry.velocity).value),
        kernels_(interpolated::ring_kernels(instructions)),
        team_(&team) {
    for (const Detector& detector : geometry.detectors) {
      frames_.push_back(interpolated::frame_of(detector, grid_));
      dead_.push_back(detector.dead);
    }
    row_ = grid_.x.count + 2;
    plane_ = row_ * (grid_.y.count + 2);
    image_.resize(plane_ * (grid_.z.count + 2));
    edges_of_members_.resize(team.size());
    for (std::vector<double>& edges : edges_of_members_) edges.resize(samples_ + 1);
    edges_.resize(frames_.size() * (samples_ + 1));
  }

  [[nodiscard]] std::size_t image_size() const noexcept override { return grid_.pixels(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return frames_.size() * samples_; }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    return (image_.size() + edges_.size()) * sizeof(float) + edges_of_members_.size() * (samples_ + 1) * sizeof(double) +
           frames_.size() * sizeof(DetectorFrame);
  }

  void apply(std::span<const float> image, std::span<float> data) override {
    team_->for_each(grid_.z.count, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t z = first; z < last; ++z) {
        for (std::size_t y = 0; y < grid_.y.count; ++y) {
          std::copy_n(image.begin() + static_cast<std::ptrdiff_t>((z * grid_.y.count + y) * grid_.x.count), grid_.x.count,
                      image_.begin() + static_cast<std::ptrdiff_t>(inner(z, y)));
        }
      }
    });
    clear_border();
    team_->for_each(frames_.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      const std::span<double> edges = edges_of_members_[member];
      for (std::size_t q = first; q < last; ++q) {
        for (std::size_t k = 0; k <= samples_; ++k) edges[k] = dead_[q] ? 0.0 : integral(frames_[q], edge_time(k));
        half_sample_difference(edges, data.subspan(q * samples_, samples_));
      }
    });
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    team_->for_each(frames_.size(), 16, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t q = first; q < last; ++q)
        half_sample_difference_adjoint(data.subspan(q * samples_, samples_), edges_of(q));
    });
    // Each voxel is in one slab, and receives its terms in the order of detectors, spheres, rings and samples, whatever the
    // slabs. So the bits do not depend on the number of slabs.
    const std::size_t planes = grid_.z.count;
    // All voxels cost the same work, and every slab goes over all rings, so there are only a few slabs.
    const std::size_t wanted = team_->size() == 1 ? 1 : 2 * team_->size();
    const std::size_t slab = (planes + wanted - 1) / wanted;
    team_->for_each(planes, slab, [&](std::size_t first, std::size_t last, std::size_t) {
      std::fill(image_.begin() + static_cast<std::ptrdiff_t>((first + 1) * plane_),
                image_.begin() + static_cast<std::ptrdiff_t>((last + 1) * plane_), 0.0F);
      for (std::size_t q = 0; q < frames_.size(); ++q) {
        if (!dead_[q]) spread(frames_[q], edges_of(q), first + 1, last + 1);
      }
      for (std::size_t z = first; z < last; ++z) {
        for (std::size_t y = 0; y < grid_.y.count; ++y) {
          std::copy_n(image_.begin() + static_cast<std::ptrdiff_t>(inner(z, y)), grid_.x.count,
                      image.begin() + static_cast<std::ptrdiff_t>((z * grid_.y.count + y) * grid_.x.count));
        }
      }
    });
  }

 private:
  /// Index of the first voxel of a row of the grid, inside the border.
  [[nodiscard]] std::size_t inner(std::size_t z, std::size_t y) const { return (z + 1) * plane_ + (y + 1) * row_ + 1; }
  [[nodiscard]] std::span<float> edges_of(std::size_t detector) {
    return std::span(edges_).subspan(detector * (samples_ + 1), samples_ + 1);
  }
  [[nodiscard]] double edge_time(std::size_t edge) const { return start_ + (static_cast<double>(edge) - 0.5) / rate_; }

  /// Clears the border: values that the adjoint leaves there belong to no voxel.
  void clear_border() {
    const auto clear = [this](std::size_t from, std::size_t count) {
      std::fill_n(image_.begin() + static_cast<std::ptrdiff_t>(from), count, 0.0F);
    };
    clear(0, plane_);
    clear(image_.size() - plane_, plane_);
    for (std::size_t z = 0; z < grid_.z.count; ++z) {
      clear((z + 1) * plane_, row_);
      clear((z + 2) * plane_ - row_, row_);
      for (std::size_t y = 0; y < grid_.y.count; ++y) {
        image_[inner(z, y) - 1] = 0.0F;
        image_[inner(z, y) + grid_.x.count] = 0.0F;
      }
    }
  }

  [[nodiscard]] RingTask task_within(double first_plane, double end_plane) const {
    RingTask task;
    task.row = row_;
    task.plane = plane_;
    const auto end = [](const Axis& axis) { return static_cast<float>(axis.count + 1); };
    task.high[0] = end(grid_.x);
    task.high[1] = end(grid_.y);
    task.low[2] = static_cast<float>(first_plane);
    task.high[2] = static_cast<float>(end_plane);
    return task;
  }

  /// Weight of the samples at the ring's points, in the unit of data: t / (4 pi) times their solid angles, divided by the
  /// sampling interval.
  [[nodiscard]] double weight_of(const interpolated::Ring& ring, double time) const { return time * rate_ * ring.share; }

  /// t / (4 pi) times the integral of the image over all directions, divided by the sampling interval.
  [[nodiscard]] double integral(const DetectorFrame& frame, double time) const {
    const Shell shell = interpolated::shell_of(frame, time / spacing_time_);
    RingTask task = task_within(0.0, static_cast<double>(grid_.z.count + 1));
    double sum = 0.0;
    for (std::int64_t k = 0; k < shell.rings; ++k) {
      task.ring = interpolated::ring_of(frame, shell, k);
      task.pieces = interpolated::pieces_within(task.ring, task.low, task.high);
      if (task.pieces.bits != 0) sum += weight_of(task.ring, time) * kernels_.gather(task, image_.data());
    }
    return sum;
  }

  /// Adds the transpose of integral() of all edges to planes first .. last - 1 of image_.
  void spread(const DetectorFrame& frame, std::span<const float> edges, std::size_t first, std::size_t last) {
    RingTask task = task_within(static_cast<double>(first) - 1.0, static_cast<double>(last));
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      if (edges[edge] == 0.0F) continue;
      const double time = edge_time(edge);
      const Shell shell = interpolated::shell_of(frame, time / spacing_time_);
      for (std::int64_t k = 0; k < shell.rings; ++k) {
        task.ring = interpolated::ring_of(frame, shell, k);
        task.pieces = interpolated::pieces_within(task.ring, task.low, task.high);
        if (task.pieces.bits == 0) continue;
        const auto value = static_cast<float>(weight_of(task.ring, time) * static_cast<double>(edges[edge]));
        kernels_.scatter(task, value, image_.data(), static_cast<std::int32_t>(first), static_cast<std::int32_t>(last));
      }
    }
  }

  Grid grid_;
  std::size_t samples_;
  double rate_;          // Hz
  double start_;         // s
  double spacing_time_;  // travel time of sound from voxel to voxel, s
  interpolated::RingKernels kernels_;
  ThreadTeam* team_;
  std::vector<DetectorFrame> frames_;
  std::vector<bool> dead_;
  std::size_t row_ = 0;    // stride of a row of the image with its border, in floats
  std::size_t plane_ = 0;  // stride of a plane, likewise
  std::vector<float> image_;
  std::vector<std::vector<double>> edges_of_members_;
  std::vector<float> edges_;  // [detector][edge], for the adjoint
};

}  // namespace

std::size_t interpolated_model_bytes(const ModelGeometry& geometry, const OperatorSite& site) {
  if (site.backend == BackendKind::cuda) return 0;
  const Grid& grid = geometry.grid;
  const std::size_t image = (grid.x.count + 2) * (grid.y.count + 2) * (grid.z.count + 2);
  const std::size_t edges = geometry.samples + 1;
  const std::size_t detectors = geometry.detectors.size();
  return (image + detectors * edges) * sizeof(float) + site.team->size() * edges * sizeof(double) +
         detectors * sizeof(DetectorFrame);
}

std::unique_ptr<LinearOperator> make_interpolated_model(const ModelGeometry& geometry, const OperatorSite& site) {
  validate(geometry, "interpolated model");
  if (site.backend == BackendKind::cuda) return make_interpolated_model_cuda(geometry, *site.team, site.device);
  return std::make_unique<InterpolatedModel>(geometry, *site.team, site.level);
}

}  // namespace echoform
