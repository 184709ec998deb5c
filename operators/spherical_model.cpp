#include "operators/spherical_model.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "operators/real_transform.hpp"
#include "operators/spherical_kernels.hpp"
#include "operators/spherical_math.hpp"
#include "operators/spherical_model_cuda.hpp"
#include "operators/spherical_setup.hpp"
#include "operators/spherical_spectrum.hpp"
#include "operators/spreading_kernel.hpp"

namespace echoform {
namespace {

using spherical::Lattice;
using spherical::Listener;
using spherical::PieceTask;

/// Number of detectors whose grids the adjoint holds at a time. The grids of point detectors fit in a second-level cache.
constexpr std::size_t chunk = 32;
/// The transforms need rows that begin at multiples of this number of floats.
constexpr std::size_t transform_stride = 16;
/// Number of voxels whose impulses are added in single precision before their sum is added in double precision. Low frequencies
/// are integrated twice, and the rounding errors of millions of additions would be too. Adding up takes a hundredth of the time
/// of the impulses.
constexpr std::size_t points_at_a_time = 65536;
constexpr std::size_t rectangles_at_a_time = 8192;

std::size_t padded(std::size_t floats) {
  return (floats + transform_stride - 1) / transform_stride * transform_stride;
}

/// The arrays between transforms, for one member of a team.
struct SpectralWorkspace {
  SpectralWorkspace(std::size_t count, std::size_t stride, std::size_t length, std::size_t period)
      : grids(transform_reals(count * stride)),
        fine(transform_reals(length + 2)),
        spectrum(transform_reals(period + 2)),
        signal(transform_reals(period)),
        sums(count * stride),
        bytes(bytes_of(count, stride, length, period)) {}

  [[nodiscard]] static std::size_t bytes_of(std::size_t count, std::size_t stride, std::size_t length, std::size_t period) {
    return (count * stride + length + 2 * period + 4) * sizeof(float) + count * stride * sizeof(double);
  }

  TransformReals grids;      // for apply()
  TransformReals fine;       // spectrum of a grid
  TransformReals spectrum;   // spectrum of a row
  TransformReals signal;     // a row with the samples before and after it
  std::vector<double> sums;  // sums of grids
  std::size_t bytes;
};

class SphericalModel final : public LinearOperator {
 public:
  SphericalModel(const ModelGeometry& geometry, const SphericalModelOptions& options, ThreadTeam& team, SimdLevel instructions)
      : grid_(geometry.grid),
        samples_(geometry.samples),
        time_(spherical_time_grid(geometry, options, spherical_model_name)),
        length_(time_.period * time_.finer),
        stride_(padded(length_)),
        rectangles_(options.rectangular_elements),
        fine_(length_),
        coarse_(time_.period),
        table_(spreading::make_table()),
        team_(&team) {
    const spherical::SphericalKernels kernels = spherical::spherical_kernels(instructions);
    kernels_ = rectangles_ ? kernels.rectangles : kernels.points;
    levels_ = rectangles_ ? spherical::rectangle_grids : 1;
    for (int level = 0; level < levels_; ++level) factors_.push_back(spherical_factors(geometry, options, time_, level));
    SphericalPlaces places = spherical_places(geometry, time_, rectangles_);
    lattice_ = places.lattice;
    shift_ = places.shift;
    listeners_ = std::move(places.listeners);
    for (const Detector& detector : geometry.detectors) dead_.push_back(detector.dead);
    const std::size_t grids = rectangles_ ? spherical::rectangle_grids : spherical::point_grids;
    for (std::size_t member = 0; member < team.size(); ++member) workspaces_.emplace_back(grids, stride_, length_, time_.period);
    held_ = std::min(chunk, listeners_.size());
    fields_ = transform_reals(held_ * static_cast<std::size_t>(levels_) * stride_);
  }

  [[nodiscard]] std::size_t image_size() const noexcept override { return grid_.pixels(); }
  [[nodiscard]] std::size_t data_size() const noexcept override { return listeners_.size() * samples_; }
  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = (held_ * static_cast<std::size_t>(levels_) * stride_ + table_.size()) * sizeof(float);
    for (const SpectralWorkspace& work : workspaces_) sum += work.bytes;
    sum += factors_.size() * time_.bands * sizeof(std::complex<float>);
    return sum + listeners_.size() * sizeof(Listener);
  }

  void apply(std::span<const float> image, std::span<float> data) override {
    team_->for_each(listeners_.size(), 1, [&](std::size_t first, std::size_t last, std::size_t member) {
      for (std::size_t q = first; q < last; ++q) {
        const std::span<float> row = data.subspan(q * samples_, samples_);
        if (dead_[q]) {
          std::fill(row.begin(), row.end(), 0.0F);
        } else {
          hear(listeners_[q], image, workspaces_[member], row);
        }
      }
    });
  }

  void adjoint(std::span<const float> data, std::span<float> image) override {
    std::fill(image.begin(), image.end(), 0.0F);
    const std::size_t rows = grid_.z.count * grid_.y.count;
    const std::size_t grain = std::max<std::size_t>(1, rows / (8 * team_->size()));
    // Each voxel receives the terms of detectors in their order, whichever member does the work.
    for (std::size_t begin = 0; begin < listeners_.size(); begin += held_) {
      const std::size_t count = std::min(held_, listeners_.size() - begin);
      team_->for_each(count, 1, [&](std::size_t first, std::size_t last, std::size_t member) {
        for (std::size_t n = first; n < last; ++n) {
          if (!dead_[begin + n]) make_fields(data.subspan((begin + n) * samples_, samples_), workspaces_[member], fields_of(n));
        }
      });
      team_->for_each(rows, grain, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t row = first; row < last; ++row) gather_row(row, begin, count, image);
      });
    }
  }

 private:
  [[nodiscard]] float* fields_of(std::size_t held) { return fields_.get() + held * static_cast<std::size_t>(levels_) * stride_; }

  [[nodiscard]] PieceTask task() const {
    PieceTask of;
    const CountedCells counted = counted_cells(time_);
    of.first = counted.first;
    of.last = counted.last;
    of.stride = stride_;
    of.table = table_.data();
    return of;
  }

  /// Describes the voxels from x on in row [z, y] of the image.
  void set_piece(const Listener& listener, std::size_t row, std::size_t x, PieceTask& of) const {
    of.count = static_cast<std::int32_t>(std::min<std::size_t>(spherical::piece, grid_.x.count - x));
    const std::int64_t at[3] = {static_cast<std::int64_t>(x), static_cast<std::int64_t>(row % grid_.y.count),
                                static_cast<std::int64_t>(row / grid_.y.count)};
    of.heard = spherical::heard_by(listener, lattice_, at, of.count, shift_);
  }

  /// Adds grids to the sums for each of `levels_`, and clears them.
  void add_up(SpectralWorkspace& work) const {
    const std::size_t grids = rectangles_ ? spherical::rectangle_grids : spherical::point_grids;
    for (std::size_t n = 0; n < grids; ++n) {
      float* const grid = work.grids.get() + n * stride_;
      double* const sum = work.sums.data() + (rectangles_ ? n * stride_ : 0);
      for (std::size_t k = 0; k < length_; ++k) sum[k] += static_cast<double>(grid[k]);
      std::fill_n(grid, length_, 0.0F);
    }
  }

  /// Computes one row of data.
  void hear(const Listener& listener, std::span<const float> image, SpectralWorkspace& work, std::span<float> data) const {
    const std::size_t at_a_time = rectangles_ ? rectangles_at_a_time : points_at_a_time;
    std::fill(work.sums.begin(), work.sums.end(), 0.0);
    std::fill_n(work.grids.get(), work.sums.size(), 0.0F);
    PieceTask of = task();
    std::size_t added = 0;
    for (std::size_t row = 0; row < grid_.z.count * grid_.y.count; ++row) {
      for (std::size_t x = 0; x < grid_.x.count; x += spherical::piece) {
        set_piece(listener, row, x, of);
        kernels_.spread(of, image.data() + row * grid_.x.count + x, work.grids.get());
      }
      added += grid_.x.count;
      if (added >= at_a_time) {
        add_up(work);
        added = 0;
      }
    }
    add_up(work);
    for (std::size_t k = 0; k < work.sums.size(); ++k) work.grids[k] = static_cast<float>(work.sums[k]);
    float* const spectrum = work.spectrum.get();
    std::fill_n(spectrum, time_.period + 2, 0.0F);
    for (std::size_t level = 0; level < factors_.size(); ++level) {
      fine_.forward(work.grids.get() + level * stride_, work.fine.get());
      const float* const of_grid = work.fine.get();
      for (std::size_t band = 1; band <= time_.bands; ++band) {
        const std::complex<float> factor = factors_[level][band - 1];
        const float re = of_grid[2 * band];
        const float im = of_grid[2 * band + 1];
        spectrum[2 * band] += factor.real() * re - factor.imag() * im;
        spectrum[2 * band + 1] += factor.real() * im + factor.imag() * re;
      }
    }
    coarse_.backward(spectrum, work.signal.get());
    std::copy_n(work.signal.get() + time_.before, samples_, data.begin());
  }

  /// The transpose of what hear() does to its grids: makes a field for each of `levels_`.
  void make_fields(std::span<const float> data, const SpectralWorkspace& work, float* fields) const {
    float* const signal = work.signal.get();
    std::fill_n(signal, time_.period, 0.0F);
    std::copy(data.begin(), data.end(), signal + time_.before);
    coarse_.forward(signal, work.spectrum.get());
    const float* const of_data = work.spectrum.get();
    for (std::size_t level = 0; level < factors_.size(); ++level) {
      float* const spectrum = work.fine.get();
      std::fill_n(spectrum, length_ + 2, 0.0F);
      for (std::size_t band = 1; band <= time_.bands; ++band) {
        const std::complex<float> factor = factors_[level][band - 1];
        const float re = of_data[2 * band];
        const float im = of_data[2 * band + 1];
        spectrum[2 * band] = factor.real() * re + factor.imag() * im;
        spectrum[2 * band + 1] = factor.real() * im - factor.imag() * re;
      }
      fine_.backward(spectrum, fields + level * stride_);
    }
  }

  void gather_row(std::size_t row, std::size_t begin, std::size_t count, std::span<float> image) {
    constexpr std::size_t lanes = spreading::lanes;
    PieceTask of = task();
    for (std::size_t x = 0; x < grid_.x.count; x += spherical::piece) {
      alignas(64) float sums[spherical::piece * lanes] = {};
      for (std::size_t n = 0; n < count; ++n) {
        if (dead_[begin + n]) continue;
        set_piece(listeners_[begin + n], row, x, of);
        kernels_.gather(of, fields_of(n), sums);
      }
      float* const voxels = image.data() + row * grid_.x.count + x;
      for (std::size_t k = 0; k < static_cast<std::size_t>(of.count); ++k) {
        float sum = 0.0F;
        for (std::size_t lane = 0; lane < lanes; ++lane) sum += sums[k * lanes + lane];
        voxels[k] += sum;
      }
    }
  }

  Grid grid_;
  std::size_t samples_;
  SphericalTimeGrid time_;
  std::size_t length_;  // of the grid in time, in its samples
  std::size_t stride_;  // from one grid to the next, in floats
  bool rectangles_;
  int levels_ = 1;  // number of integrations
  RealTransform fine_;
  RealTransform coarse_;
  std::vector<float> table_;
  ThreadTeam* team_;
  spherical::PieceKernels kernels_;
  Lattice lattice_{};
  double shift_ = 0.0;  // offset of the grid's sample 0 from the pulse of light, in samples of the grid
  std::vector<Listener> listeners_;
  std::vector<bool> dead_;
  std::vector<std::vector<std::complex<float>>> factors_;  // [integrals][band - 1]
  std::vector<SpectralWorkspace> workspaces_;
  std::size_t held_ = 0;   // number of detectors whose fields are held
  TransformReals fields_;  // [held][integrals][sample], for the adjoint
};

}  // namespace

namespace {

/// Number of parts into which rectangular elements are divided.
ElementParts parts_of(const ModelGeometry& geometry, const SphericalModelOptions& options) {
  if (!options.rectangular_elements) return {};
  if (options.element_parts) return *options.element_parts;
  const Hertz highest = options.highest_frequency.value > 0.0 ? options.highest_frequency : 0.25 * geometry.sample_rate;
  return parts_for_far_field(geometry, highest);
}

/// Options for the geometry that is divided() into `parts`.
SphericalModelOptions options_of_parts(SphericalModelOptions options, const ElementParts& parts) {
  // No part is larger, in any process.
  options.largest_half_diagonal = options.largest_half_diagonal / static_cast<double>(std::min(parts.across, parts.along));
  options.element_parts = ElementParts{};
  return options;
}

}  // namespace

std::size_t spherical_model_bytes(const ModelGeometry& geometry, const SphericalModelOptions& options, const OperatorSite& site) {
  if (const ElementParts parts = parts_of(geometry, options); parts.count() > 1) {
    return spherical_model_bytes(divided(geometry, parts), options_of_parts(options, parts), site) +
           model_of_parts_bytes(geometry.detectors.size(), parts, geometry.samples);
  }
  if (site.backend == BackendKind::cuda) return 0;
  const SphericalTimeGrid time = spherical_time_grid(geometry, options, spherical_model_name);
  const std::size_t length = time.period * time.finer;
  const std::size_t levels = options.rectangular_elements ? spherical::rectangle_grids : 1;
  const std::size_t grids = options.rectangular_elements ? spherical::rectangle_grids : spherical::point_grids;
  const std::size_t held = std::min(chunk, geometry.detectors.size()) * levels * padded(length);
  return (held + static_cast<std::size_t>(spreading::places + 1) * spreading::table_row) * sizeof(float) +
         site.team->size() * SpectralWorkspace::bytes_of(grids, padded(length), length, time.period) +
         levels * time.bands * sizeof(std::complex<float>) + geometry.detectors.size() * sizeof(Listener);
}

std::unique_ptr<LinearOperator> make_spherical_model(const ModelGeometry& geometry, const SphericalModelOptions& options,
                                                     const OperatorSite& site) {
  validate(geometry, spherical_model_name);
  if (const ElementParts parts = parts_of(geometry, options); parts.count() > 1) {
    // The check uses the whole elements, so that errors name them and not their parts.
    static_cast<void>(spherical_time_grid(geometry, options, spherical_model_name));
    const ModelGeometry of_parts = divided(geometry, parts);
    validate(of_parts, "spherical model, parts of its elements");
    auto model = make_spherical_model(of_parts, options_of_parts(options, parts), site);
    return make_model_of_parts(std::move(model), parts, geometry.samples, site);
  }
  if (site.backend == BackendKind::cuda) return make_spherical_model_cuda(geometry, options, *site.team, site.device);
  return std::make_unique<SphericalModel>(geometry, options, *site.team, site.level);
}

}  // namespace echoform
