// How a GPU shares out voxels and detectors: nothing is left out, and windows hold what bricks look up.
#include "stages/back_projection/brick_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace echoform::test {
namespace {

using projection::BrickPlan;

BackProjectionOptions options_of(const Grid& grid, std::size_t detectors) {
  BackProjectionOptions options;
  options.grid = grid;
  options.velocity = MetresPerSecond(1500.0);
  options.sample_rate = Hertz(20e6);
  auto around = std::make_shared<std::vector<ProjectionDetector>>();
  for (std::size_t q = 0; q < detectors; ++q) {
    const double turn = 0.7 * static_cast<double>(q);
    around->push_back({q, {Metres(0.07 * std::cos(turn)), Metres(0.0), Metres(0.07 * std::sin(turn))}, {}, 1.0});
  }
  options.detectors = std::move(around);
  return options;
}

Axis voxels(std::size_t count, double spacing) {
  const double half = 0.5 * spacing * static_cast<double>(count - 1);
  return {Metres(-half), Metres(half), count};
}

TEST(BrickPlanOfAGrid, HoldsEveryVoxelAndDetector) {
  for (const Grid& grid :
       {Grid{voxels(400, 1e-4), voxels(400, 1e-4), {}}, Grid{voxels(210, 1.4e-4), voxels(440, 1.4e-4), voxels(210, 1.4e-4)},
        Grid{voxels(128, 2e-4), voxels(128, 2e-4), voxels(128, 2e-4)}, Grid{{}, {}, {}}, Grid{{}, voxels(5000, 1e-5), {}},
        Grid{voxels(300, 1e-4), {}, voxels(200, 1e-4)}, Grid{voxels(7, 1e-3), voxels(6, 2e-3), voxels(5, 1e-3)},
        Grid{voxels(50, 1.0), voxels(40, 1.0), {}}}) {
    for (const std::size_t detectors : {1, 17, 256, 11520}) {
      const BackProjectionOptions options = options_of(grid, detectors);
      const BrickPlan plan = projection::plan_bricks(options);
      const auto axes = projection::axes_of(grid);
      std::uint32_t lanes = 1;
      std::uint32_t warps = 1;
      double square = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const Axis& axis = *axes[static_cast<std::size_t>(plan.order[k])];
        lanes *= plan.lanes[k];
        warps *= plan.warps[k];
        EXPECT_GE(plan.bricks[k] * plan.side(k), axis.count);
        EXPECT_LT((plan.bricks[k] - 1) * plan.side(k), axis.count);
        square += std::pow((plan.side(k) - 1) * axis.spacing().value * 20e6 / 1500.0, 2.0);
      }
      EXPECT_EQ(lanes, 32U);
      EXPECT_EQ(warps, projection::brick_warps);
      EXPECT_GE(plan.groups * plan.group_size, detectors);
      EXPECT_LT((plan.groups - 1) * plan.group_size, detectors);
      EXPECT_LE(plan.shared_bytes(), std::size_t{48} << 10);
      if (plan.half_window == 0) {
        EXPECT_EQ(plan.depth, projection::shallow);
        continue;
      }
      EXPECT_GE(plan.batch, 1U);
      // From the middle of the window, which is a whole number of samples off that of the brick's times, to the sample after
      // one's time.
      EXPECT_GE(plan.half_window, 0.5 * std::sqrt(square) + 0.5);
    }
  }
}

/// The kernel's arithmetic, in double precision: over a sweep of spacings no voxel of a brick, those beyond the grid's end among
/// them, has a time outside of the brick's window, with a sample to spare for rounding. Detectors stand about the grid, in line
/// with its axes and among the voxels.
TEST(BrickPlanOfAGrid, HoldsWhatItsVoxelsLookUpAtEverySpacing) {
  constexpr double a_sample = 1500.0 / 20e6;
  std::size_t windows = 0;
  for (double spacing = 0.05; spacing < 80.0; spacing *= 1.31) {
    for (const Grid& grid : {Grid{voxels(37, spacing * a_sample), voxels(37, spacing * a_sample), {}},
                             Grid{voxels(21, spacing * a_sample), voxels(19, spacing * a_sample), voxels(9, spacing * a_sample)},
                             Grid{voxels(40, spacing * a_sample), {}, voxels(33, spacing * a_sample)}}) {
      BackProjectionOptions options = options_of(grid, 9);
      const double side = 36.0 * spacing * a_sample;
      auto around = *options.detectors;
      for (const double place : {-0.5, 0.013, 0.31, 0.77}) {
        around.push_back({0, {Metres(place * side), Metres(0.0), Metres(0.21 * spacing * a_sample)}, {}, 1.0});
      }
      options.detectors = std::make_shared<const std::vector<ProjectionDetector>>(around);
      options.start_time = Seconds(3.37e-6);
      const BrickPlan plan = projection::plan_bricks(options);
      if (plan.half_window == 0) continue;
      ++windows;
      const double half = plan.half_window;
      const projection::FlatFrame frame = projection::flat_frame(options, plan.order);
      const auto axes = projection::axes_of(grid);
      const auto place = [&](std::size_t k, double voxel) {
        const Axis& axis = *axes[frame.of(static_cast<int>(k))];
        return (voxel - 0.5 * static_cast<double>(axis.count - 1)) * axis.spacing().value * frame.samples_per_metre;
      };
      for (std::uint32_t brick = 0; brick < plan.all_bricks(); ++brick) {
        const std::array<std::uint32_t, 3> at{brick % plan.bricks[0], brick / plan.bricks[0] % plan.bricks[1],
                                              brick / plan.bricks[0] / plan.bricks[1]};
        for (const ProjectionDetector& detector : around) {
          double to_middle = 0.0;
          for (std::size_t k = 0; k < 3; ++k) {
            const double middle = place(k, at[k] * plan.side(k) + 0.5 * (plan.side(k) - 1));
            to_middle += std::pow(middle - static_cast<double>(frame.place(detector.centre, static_cast<int>(k))), 2);
          }
          const double start = projection::flat_start(options);
          const double middle = std::round(std::sqrt(to_middle) - start);
          for (std::uint32_t z = 0; z < plan.side(2); ++z) {
            for (std::uint32_t y = 0; y < plan.side(1); ++y) {
              for (std::uint32_t x = 0; x < plan.side(0); ++x) {
                const std::array<std::uint32_t, 3> voxel{x, y, z};
                double square = 0.0;
                for (std::size_t k = 0; k < 3; ++k) {
                  square += std::pow(place(k, at[k] * plan.side(k) + voxel[k]) -
                                         static_cast<double>(frame.place(detector.centre, static_cast<int>(k))),
                                     2);
                }
                const double u = std::sqrt(square) - start - middle;
                ASSERT_TRUE(u >= -half + 1.0 && u < half - 1.0) << spacing << " samples, " << u << " of " << half;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(windows, 30U);
}

TEST(BrickPlanOfAGrid, GivesALiveImageWorkForAllOfAGpu) {
  const BrickPlan plan = projection::plan_bricks(options_of({voxels(400, 1e-4), voxels(400, 1e-4), {}}, 256));
  EXPECT_GE(plan.all_bricks() * plan.groups, 400U);
  const BrickPlan volume = projection::plan_bricks(options_of({voxels(128, 2e-4), voxels(128, 2e-4), voxels(128, 2e-4)}, 256));
  EXPECT_GE(volume.all_bricks() * volume.groups, 400U);
  EXPECT_EQ(volume.depth, projection::deep);
}

/// As many blocks as a GPU of 132 multiprocessors has at work at once, some times over, or a little less.
TEST(BrickPlanOfAGrid, LeavesLittleOfAGpuWithoutWork) {
  for (const std::size_t planes : {440, 220, 110, 55}) {
    const Grid grid{voxels(210, 1.4e-4), voxels(planes, 1.4e-4), voxels(210, 1.4e-4)};
    const BrickPlan plan = projection::plan_bricks(options_of(grid, 11520));
    const double waves = plan.all_bricks() * plan.groups / 528.0;
    EXPECT_LE(std::ceil(waves) / waves, 1.06) << planes;
    EXPECT_LE(plan.sums_bytes(options_of(grid, 11520)), std::size_t{256} << 20);
  }
  // Few detectors are not worth sums of their own.
  EXPECT_EQ(projection::plan_bricks(options_of({voxels(210, 1.4e-4), voxels(440, 1.4e-4), voxels(210, 1.4e-4)}, 16)).groups, 1U);
}

TEST(BrickPlanOfAGrid, LooksUpAlongBentTimesWhereTheyAre) {
  BackProjectionOptions options = options_of({voxels(64, 1e-4), voxels(64, 1e-4), {}}, 64);
  EXPECT_GT(projection::plan_bricks(options).half_window, 0U);
  options.inclusion = SoundInclusion{{}, {Metres(0.01), Metres(0.01), Metres(0.01)}, MetresPerSecond(1600.0)};
  EXPECT_EQ(projection::plan_bricks(options).half_window, 0U);
}

}  // namespace
}  // namespace echoform::test
