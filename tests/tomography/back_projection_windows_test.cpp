// Back-projection of white noise over sweeps of the spacing of voxels, of directions and of the record's ends, against plain
// lookups. AVX-512 picks the samples of sixteen voxels out of 32 or 64 in registers, a GPU those of a brick of voxels out of
// windows in shared memory: which of them is long enough depends on the spacing in samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stages/back_projection/back_projection.hpp"
#include "stages/back_projection/brick_plan.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/white_noise.hpp"

namespace echoform::test {
namespace {

// Lengths of one sample of sound: places are in samples.
constexpr double rate = 40e6;
constexpr double velocity = 1500.0;
constexpr double sample_way = velocity / rate;

Metres samples_long(double samples) {
  return Metres(samples * sample_way);
}

/// Of `count` voxels from `first` on, in samples.
Axis voxels(double first, double spacing, std::size_t count) {
  return {samples_long(first), samples_long(first + spacing * static_cast<double>(count - 1)), count};
}

ProjectionDetector detector_at(double x, double y, double z, std::size_t row) {
  return {row, {samples_long(x), samples_long(y), samples_long(z)}, {0.6, 0.0, 0.8}, row % 2 == 0 ? 1.0 : 0.75};
}

struct Record {
  double start = 0.0;  ///< time of the first sample, samples
  std::size_t samples = 0;
  std::size_t stride = 0;
};

/// How far a detector is from a voxel, in samples.
double way_between(const ProjectionDetector& detector, const Point& voxel) {
  return std::hypot((voxel.x - detector.centre.x).value, (voxel.y - detector.centre.y).value,
                    (voxel.z - detector.centre.z).value) /
         sample_way;
}

class BackProjectionWindows : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const BackProjectionOptions& options) {
    if (on_cuda()) return make_stage(back_projection_stage, options, backend());
    return make_back_projection_cpu(options, level());
  }

  [[nodiscard]] static BackProjectionOptions options_of(const Grid& grid, std::vector<ProjectionDetector> detectors) {
    BackProjectionOptions options;
    options.grid = grid;
    options.detectors = std::make_shared<const std::vector<ProjectionDetector>>(std::move(detectors));
    options.velocity = MetresPerSecond(velocity);
    options.sample_rate = Hertz(rate);
    return options;
  }

  /// Times as far apart as those of the nearest and the farthest voxel, in samples.
  [[nodiscard]] static std::pair<double, double> ways_of(const BackProjectionOptions& options) {
    double nearest = 1e9;
    double farthest = 0.0;
    for (const ProjectionDetector& detector : *options.detectors) {
      for (const Point& voxel : options.grid.points()) {
        nearest = std::min(nearest, way_between(detector, voxel));
        farthest = std::max(farthest, way_between(detector, voxel));
      }
    }
    return {nearest, farthest};
  }

  /// What rounding may do to lookups of detectors `way` samples from their voxels.
  class Rounding {
   public:
    Rounding(const BackProjectionOptions& options, const Record& record, bool on_cuda) {
      const Grid& grid = options.grid;
      for (const Axis& axis : {grid.x, grid.y, grid.z}) {
        widest_ = std::max(widest_, (axis.last - axis.first).value / sample_way);
      }
      record_ = std::abs(record.start) + static_cast<double>(record.samples);
      if (on_cuda) half_window_ = projection::plan_bricks(options).half_window;
    }
    [[nodiscard]] LookupError of(double way) const {
      // Single precision: the length of a way to 2^-22 and roundings of 2^-24, places and the start to 2^-24 each.
      LookupError error{0x1p-21 * way + 0x1p-23 * (record_ + widest_), 2e-6};
      // As the stage states it of windows on CUDA: a square of a distance is that of the middle of a thread's voxels and more, to
      // 1.3e-7, and a sample lies on a line that is told from the window's middle.
      if (half_window_ > 0.0) {
        error.place += std::min(1.3e-7 * std::pow(way + half_window_, 2.0) / way, 4e-4 * (way + half_window_));
        error.place += 2.5e-7 * half_window_;
      }
      return error;
    }

   private:
    double widest_ = 0.0;  // of the grid, samples
    double record_ = 0.0;
    double half_window_ = 0.0;
  };

  void expect_the_plain_sum(const BackProjectionOptions& of_record, const Record& record, SweepReport& report,
                            const std::string& name) {
    BackProjectionOptions options = of_record;
    options.start_time = Seconds(record.start / rate);
    const std::size_t rows = options.detectors->size();
    const BlockSpec spec = make_spec(ElementType::float32, rows, record.samples, record.stride);
    const TestBlock input(spec);
    const std::vector<float> noise = white_noise(rows * record.samples, 7);
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(noise.data() + row * record.samples, record.samples, input.as<float>() + row * record.stride);
    }
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, input);
    const Rounding rounding(options, record, on_cuda());
    Comparison<double> comparison;
    for (std::size_t k = 0; k < options.grid.pixels(); ++k) {
      const Point voxel = options.grid.at(k);
      PlainSum<double> wanted;
      for (const ProjectionDetector& detector : *options.detectors) {
        const float* const row = noise.data() + detector.row * record.samples;
        const double way = way_between(detector, voxel);
        wanted.add_linear([&](std::size_t n) { return static_cast<double>(row[n]); }, record.samples, way - record.start,
                          detector.weight, rounding.of(way));
      }
      comparison.add(result.block->as<float>()[k], wanted);
    }
    EXPECT_EQ(comparison.wrong(), 0U) << name << ": " << comparison.text();
    report.add(comparison.relative_error());
  }
};
ECHOFORM_ALL_INSTRUCTION_SETS(BackProjectionWindows);

/// Coarse steps from 0.05 to 8 samples a voxel, fine ones where windows of 32 and 64 samples end for sixteen voxels, and on to
/// where those of a GPU do.
std::vector<double> swept_spacings() {
  return spacings_of(
      {{0.05, 1.8, 0.05}, {1.82, 2.06, 0.006}, {2.1, 3.8, 0.1}, {3.82, 4.2, 0.006}, {4.25, 8.0, 0.25}, {9.0, 45.0, 4.0}});
}

/// Detectors on a ring about the grid, in line with its rows and columns too, and some among its voxels.
std::vector<ProjectionDetector> detectors_about(const Grid& grid, double spacing) {
  const double x = (grid.x.first.value + grid.x.last.value) / 2.0 / sample_way;
  const double z = (grid.z.first.value + grid.z.last.value) / 2.0 / sample_way;
  const double radius = 0.7 * (grid.x.last - grid.x.first).value / sample_way + 25.0;
  std::vector<ProjectionDetector> detectors;
  for (int k = 0; k < 16; ++k) {
    const double turn = 2.0 * std::numbers::pi * k / 16.0;
    detectors.push_back(detector_at(x + radius * std::cos(turn), 0.0, z + radius * std::sin(turn), detectors.size()));
  }
  // Between two voxels, so that times fall and rise again within sixteen of them.
  for (const double place : {3.4, 8.5, 14.7, 17.3, 24.6}) {
    detectors.push_back(detector_at(grid.x.first.value / sample_way + place * spacing, 0.4 * spacing,
                                    grid.z.first.value / sample_way + 1.3 * spacing, detectors.size()));
  }
  return detectors;
}

/// Two whole vectors of voxels and a part of one; rows in a plane, and planes beside each other.
Grid grid_of(double spacing, std::size_t planes) {
  return {voxels(3.3, spacing, 37), voxels(-8.1, spacing, 7),
          voxels(-0.5 * spacing * static_cast<double>(planes - 1), spacing, planes)};
}

TEST_P(BackProjectionWindows, HoldSamplesAtEverySpacing) {
  SweepReport report;
  for (const double spacing : swept_spacings()) {
    for (const std::size_t planes : {1, 2}) {
      const Grid grid = grid_of(spacing, planes);
      const BackProjectionOptions options = options_of(grid, detectors_about(grid, spacing));
      const auto farthest = ways_of(options).second;
      const auto samples = static_cast<std::size_t>(farthest) + 3;
      expect_the_plain_sum(options, {-1.3, samples, samples + 5}, report,
                           fmt::format("{:.3f} samples a voxel, {} planes", spacing, planes));
    }
  }
}

TEST_P(BackProjectionWindows, EndWithTheRecord) {
  SweepReport report;
  for (const double spacing : {0.3, 0.9, 1.7, 1.9, 1.97, 2.02, 2.9, 3.7, 3.95, 4.1, 4.2, 7.1}) {
    const Grid grid = grid_of(spacing, 1);
    const BackProjectionOptions options = options_of(grid, detectors_about(grid, spacing));
    const auto [nearest, farthest] = ways_of(options);
    // Records from within the times of the voxels on, shorter and longer than windows, without a sample behind the last one; one
    // that begins before the pulse of light and ends early, one that begins when nearly all is over, one that is over before.
    for (const std::size_t samples : {2, 3, 16, 31, 32, 33, 63, 64, 65, 100, 301}) {
      for (const double part : {0.1, 0.5, 0.8}) {
        const double start = nearest + part * (farthest - nearest) - 0.5 * static_cast<double>(samples) + 0.37;
        expect_the_plain_sum(options, {start, samples, samples}, report,
                             fmt::format("{:.3f} samples a voxel, {} from {:.1f} on", spacing, samples, start));
      }
      for (const double start : {-400.2, nearest - 20.4, farthest - 6.3, farthest + 9.0}) {
        expect_the_plain_sum(options, {start, samples, samples}, report,
                             fmt::format("{:.3f} samples a voxel, {} from {:.1f} on", spacing, samples, start));
      }
    }
  }
}

TEST_P(BackProjectionWindows, ServeGridsOfEveryShape) {
  SweepReport report;
  const Axis one = voxels(0.0, 1.0, 1);
  for (const double spacing : {0.4, 1.6, 1.9, 1.96, 2.05, 3.9, 4.0, 4.3}) {
    const auto along = [&](std::size_t count) { return voxels(0.2, spacing, count); };
    for (const Grid& grid : {Grid{along(1), along(33), one}, Grid{along(15), along(5), one}, Grid{along(17), along(3), along(2)},
                             Grid{along(5), one, along(21)}, Grid{along(16), along(70), one}, Grid{one, one, one}}) {
      const BackProjectionOptions options = options_of(grid, detectors_about(grid, spacing));
      const auto samples = static_cast<std::size_t>(ways_of(options).second) + 3;
      expect_the_plain_sum(
          options, {0.0, samples, samples}, report,
          fmt::format("{:.3f} samples a voxel, {} x {} x {}", spacing, grid.x.count, grid.y.count, grid.z.count));
    }
  }
}

/// A detector so far away that rounding moves its times by more than a hundredth of a sample, in line with the voxels: a lookup
/// is off by that, and by no more.
TEST_P(BackProjectionWindows, HoldWhatRoundingMoves) {
  SweepReport report;
  for (const double distance : spacings_of({{2e4, 2e4, 1.0}, {1.1e5, 1.1e5, 1.0}, {5e5, 5e5 + 10.0, 0.377}})) {
    for (const double side : {-1.0, 1.0}) {
      for (const double spacing : {0.5, 1.1, 3.1}) {
        const Grid grid = grid_of(spacing, 1);
        const BackProjectionOptions options = options_of(grid, {detector_at(side * distance, 0.0, 0.7, 0)});
        const auto [nearest, farthest] = ways_of(options);
        const auto samples = static_cast<std::size_t>(farthest - nearest) + 70;
        expect_the_plain_sum(options, {std::floor(nearest) - 30.0, samples, samples + 64}, report,
                             fmt::format("{:.3f} samples a voxel, {} away", spacing, side * distance));
      }
    }
  }
}

/// A detector beside the grid, where the voxel after the last one would be, or one of those that follow.
TEST_P(BackProjectionWindows, HaveNoVoxelsBeyondTheGrid) {
  SweepReport report;
  for (const double spacing : {0.5, 1.5, 3.0}) {
    for (std::size_t beyond = 1; beyond < 13; ++beyond) {
      const Grid grid{voxels(0.0, spacing, 20), voxels(0.0, spacing, 6), {}};
      const double place = spacing * static_cast<double>(19 + beyond);
      const BackProjectionOptions options = options_of(grid, {detector_at(place, 0.0, 2.0 * spacing, 0)});
      // From long before the pulse of light on: the detector's own time is not where the record begins.
      const auto samples = static_cast<std::size_t>(ways_of(options).second) + 205;
      expect_the_plain_sum(options, {-200.4, samples, samples}, report,
                           fmt::format("{:.3f} samples a voxel, {} beyond the end", spacing, beyond));
    }
  }
}

}  // namespace
}  // namespace echoform::test
