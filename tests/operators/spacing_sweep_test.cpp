// Both models, of white noise, over sweeps of the voxels' spacing in samples, on every instruction set and on CUDA, number by
// number against models as matrices. On CUDA the interpolated model has bricks of 18 cells in shared memory, the spherical model
// windows in time that hold the arrivals of 16 voxels along each axis: how long they are depends on the spacing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "operators/interpolated_frame.hpp"
#include "operators/interpolated_model.hpp"
#include "operators/interpolated_ring_math.hpp"
#include "operators/spherical_model.hpp"
#include "operators/spherical_setup.hpp"
#include "operators/spherical_tile_math.hpp"
#include "tests/operators/dense_model.hpp"
#include "tests/operators/model_cases.hpp"
#include "tests/support/require_gpu.hpp"
#include "tests/support/white_noise.hpp"

namespace echoform::test::spacing_sweep {
namespace {

struct Site {
  BackendKind backend = BackendKind::cpu;
  SimdLevel level = SimdLevel::portable;
};

std::vector<Site> all_sites() {
  return {{BackendKind::cpu, SimdLevel::portable},
          {BackendKind::cpu, SimdLevel::avx2},
          {BackendKind::cpu, SimdLevel::avx512},
          {BackendKind::cuda, SimdLevel::portable}};
}

constexpr double rate = 4e6;
constexpr double velocity = 1500.0;

struct Counts {
  std::size_t x, y, z;
};

/// Whole and partial bricks of 18 cells and tiles of 16 voxels, a layer, and rows longer than those of 64 that are worked on
/// together.
constexpr Counts all_counts[] = {{19, 5, 18}, {37, 2, 17}, {67, 3, 2}, {16, 16, 16}, {33, 1, 17}, {3, 34, 6}};

/// Detectors near the grid, far away, on an axis of it, and within a voxel of it, whose elements are as large as two samples and
/// a half one.
constexpr std::size_t detectors = 4;
Detector detector_of(std::size_t number, const Grid& grid, double spacing) {
  const double radius = 0.5 * spacing * std::hypot(grid.x.count, grid.y.count, grid.z.count);  // of the grid, m
  Detector detector = number == 0   ? detector_at({}, Metres(1.1 * radius), 35.0, 20.0)
                      : number == 1 ? detector_at({}, Metres(1.4 * radius), 90.0, 180.0)
                      : number == 2 ? detector_at({}, Metres(25.0 * radius), 110.0, 250.0)
                                    : detector_at({}, Metres(radius), 90.0, 180.0);
  if (number == 3) detector.centre = {grid.x.first - Metres(0.6 * spacing), Metres(0.27 * spacing), Metres(-0.37 * spacing)};
  detector.width = Metres(2.0 * velocity / rate);
  detector.length = Metres(0.5 * velocity / rate);
  return detector;
}

/// Voxels `spacing` samples of sound apart, one detector, and a record about the middle of what it hears: of `share` of that, and
/// `more` samples.
ModelGeometry geometry_of(const Counts& counts, double spacing, std::size_t detector, double share, std::size_t more) {
  const double metres = spacing * velocity / rate;
  const auto axis = [&](std::size_t count) {
    const double half = 0.5 * metres * static_cast<double>(count - 1);
    return Axis{Metres(-half), Metres(half), count};
  };
  ModelGeometry geometry;
  geometry.grid = {axis(counts.x), axis(counts.z), axis(counts.y)};
  geometry.sample_rate = Hertz(rate);
  geometry.velocity = MetresPerSecond(velocity);
  geometry.detectors = {detector_of(detector, geometry.grid, metres)};
  double first = 1e9;
  double last = 0.0;
  for (const Point& voxel : geometry.grid.points()) {
    const double time = length(between(voxel, geometry.detectors[0].centre)) / velocity;
    first = std::min(first, time);
    last = std::max(last, time);
  }
  geometry.samples = static_cast<std::size_t>(share * (last - first) * rate) + more;
  geometry.start_time =
      Seconds(std::max(0.25 / rate, 0.5 * (first + last) - (0.5 * static_cast<double>(geometry.samples) - 0.3) / rate));
  return geometry;
}

/// Counts numbers that are farther from the reference than `share` of the noise that its own entries of the matrix sum to, and
/// `leaked` of the largest such sum.
struct Differences {
  std::size_t wrong = 0;
  double relative = 0.0;
};
Differences differences(std::span<const float> found, std::span<const double> wanted, std::span<const double> sizes, double share,
                        double leaked) {
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  Differences result;
  double error = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double off = std::abs(static_cast<double>(found[k]) - wanted[k]);
    if (!(off <= share * sizes[k] + leaked * largest)) ++result.wrong;
    error += off * off;
    size += wanted[k] * wanted[k];
  }
  result.relative = size > 0.0 ? std::sqrt(error / size) : std::sqrt(error);
  return result;
}

class SpacingSweep : public testing::TestWithParam<Site> {
 protected:
  void SetUp() override {
    if (GetParam().backend == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
    if (GetParam().level > simd_level()) GTEST_SKIP() << "this processor has no " << to_string(GetParam().level);
  }
  [[nodiscard]] static bool on_cuda() { return GetParam().backend == BackendKind::cuda; }
  [[nodiscard]] static OperatorSite site(ThreadTeam& team) {
    OperatorSite of{team, GetParam().backend, 0};
    of.level = GetParam().level;
    return of;
  }

  /// Both directions.
  static void expect_the_matrix(LinearOperator& linear, DenseModel& matrix, double share, double leaked, const std::string& name,
                                SweepReport& report) {
    std::vector<double> of_rows(matrix.rows);
    std::vector<double> of_columns(matrix.columns);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (std::size_t column = 0; column < matrix.columns; ++column) {
        const double square = std::pow(matrix.at(row, column), 2);
        of_rows[row] += square;
        of_columns[column] += square;
      }
    }
    for (auto* const sizes : {&of_rows, &of_columns}) {
      for (double& size : *sizes) size = std::sqrt(size);
    }
    const std::vector<float> image = white_noise(matrix.columns, 21);
    const std::vector<float> data = white_noise(matrix.rows, 22);
    std::vector<float> of_image(matrix.rows, 1e9F);
    std::vector<float> of_data(matrix.columns, 1e9F);
    linear.apply(image, of_image);
    linear.adjoint(data, of_data);
    const Differences forward = differences(of_image, matrix.apply(image), of_rows, share, leaked);
    const Differences back = differences(of_data, matrix.adjoint(data), of_columns, share, leaked);
    EXPECT_EQ(forward.wrong, 0U) << name << ", data, relative error " << forward.relative;
    EXPECT_EQ(back.wrong, 0U) << name << ", image, relative error " << back.relative;
    report.add(std::max(forward.relative, back.relative));
  }
};
INSTANTIATE_TEST_SUITE_P(Sites, SpacingSweep, testing::ValuesIn(all_sites()), [](const auto& of) {
  return of.param.backend == BackendKind::cuda ? std::string("cuda") : std::string(to_string(of.param.level));
});

constexpr double spacings[] = {0.31, 0.72, 1.0, 1.63, 2.9, 5.3, 8.1};

TEST_P(SpacingSweep, OfTheInterpolatedModel) {
  SweepReport report;
  ThreadTeam team(1);
  for (const double spacing : spacings) {
    for (const Counts& counts : all_counts) {
      for (std::size_t detector = 0; detector < detectors; ++detector) {
        const ModelGeometry geometry = geometry_of(counts, spacing, detector, 0.0, 21);
        const auto model = make_interpolated_model(geometry, site(team));
        DenseModel matrix = dense_interpolated_model(geometry);
        // Samples of spheres are placed to 1e-5 voxels, by which noise changes as much; a detector 25 times as far away as the
        // grid is large leaves 2e-4 of single precision. A sample more or less is 0.02.
        expect_the_matrix(
            *model, matrix, 2e-3, 2e-4,
            fmt::format("{} samples a voxel, {} x {} x {}, detector {}", spacing, counts.x, counts.y, counts.z, detector),
            report);
      }
    }
  }
}

TEST_P(SpacingSweep, OfTheSphericalModel) {
  SweepReport report;
  ThreadTeam team(1);
  std::size_t turn = 0;
  for (const double spacing : {0.31, 1.0, 2.9, 8.1}) {
    for (const Counts& counts : {Counts{19, 5, 17}, Counts{33, 1, 17}, Counts{67, 3, 2}, Counts{16, 15, 3}, Counts{3, 34, 5}}) {
      for (std::size_t detector = 0; detector < detectors; ++detector, ++turn) {
        SphericalModelOptions options;
        options.rectangular_elements = turn % 2 == 1;
        options.element_parts = ElementParts{};
        // Some arrive before the record and some after it, but within the guards that the model's grid in time has.
        const ModelGeometry geometry = geometry_of(counts, spacing, detector, 0.7, 24);
        std::unique_ptr<LinearOperator> model;
        try {
          model = make_spherical_model(geometry, options, site(team));
        } catch (const InputError& error) {
          // Windows of 16 voxels far apart are more than a block's shared memory, as is said.
          ASSERT_TRUE(on_cuda() && spacing > 4.0) << error.what();
          continue;
        }
        DenseModel matrix = dense_spherical_model(geometry, options);
        // The kernel of 6 samples is right to 5e-6 of all that is heard, and times to 1e-5 of a sample.
        expect_the_matrix(*model, matrix, 1e-3, 1e-4,
                          fmt::format("{} samples a voxel, {} x {} x {}, detector {}, rectangles {}", spacing, counts.x, counts.y,
                                      counts.z, detector, options.rectangular_elements),
                          report);
      }
      ++turn;
    }
  }
}

/// By the device's arithmetic, on the host: no voxel's arrival, nor an impulse of its rectangle, is outside of its tile's window.
TEST(SphericalTileSweep, WindowsHoldEveryArrival) {
  for (double spacing = 0.05; spacing < 9.0; spacing += 0.0937) {
    for (const Counts& counts : all_counts) {
      for (std::size_t detector = 0; detector < detectors; ++detector) {
        for (const bool rectangles : {false, true}) {
          const ModelGeometry geometry = geometry_of(counts, spacing, detector, 0.7, 24);
          SphericalModelOptions options;
          options.rectangular_elements = rectangles;
          options.element_parts = ElementParts{};
          const SphericalTimeGrid time = spherical_time_grid(geometry, options, "sweep");
          const SphericalPlaces places = spherical_places(geometry, time, rectangles);
          const std::int64_t voxels[3] = {static_cast<std::int64_t>(counts.x), static_cast<std::int64_t>(counts.y),
                                          static_cast<std::int64_t>(counts.z)};
          const double lattice = places.lattice.spacing;
          const spherical::Tiles tiles = spherical::tiles_of_grid(voxels, lattice, static_cast<std::int32_t>(time.transit));
          const auto least = static_cast<float>(1e-4 * lattice * lattice);
          std::int32_t lowest = tiles.window;
          std::int32_t highest = -1;
          for (std::int32_t index = 0; index < spherical::tiles_of(tiles); ++index) {
            const spherical::TilePlace place = spherical::tile_at(tiles, index);
            const spherical::HeardTile heard =
                spherical::tile_heard_by(places.listeners[0], places.lattice, tiles, place, places.shift);
            for (std::int32_t n = 0; n < place.count[0] * place.count[1] * place.count[2]; ++n) {
              const std::int32_t k[3] = {n % place.count[0], n / place.count[0] % place.count[1],
                                         n / place.count[0] / place.count[1]};
              float offset[3];
              float longer = 0.0F;
              for (int a = 0; a < 3; ++a) {
                offset[a] = spherical::tile_offset(tiles, a, k[a]);
                longer = spherical::longer_by(heard, a, offset[a], longer);
              }
              const spherical::TileArrival arrival = spherical::tile_arrival(heard, longer, least);
              const spherical::Box across =
                  spherical::box_of(spherical::tile_time(heard.across, heard.across_slope, offset, arrival.loudness));
              const spherical::Box along =
                  spherical::box_of(spherical::tile_time(heard.along, heard.along_slope, offset, arrival.loudness));
              for (int a = 0; a < (rectangles ? across.count : 1); ++a) {
                for (int b = 0; b < (rectangles ? along.count : 1); ++b) {
                  const float shift = rectangles ? across.shift[a] + along.shift[b] : 0.0F;
                  const std::int32_t cell = spherical::cell_at(arrival.time + shift).cell;
                  lowest = std::min(lowest, cell);
                  highest = std::max(highest, cell);
                }
              }
            }
          }
          ASSERT_GE(lowest, 0) << spacing << ", " << detector;
          ASSERT_LT(highest, tiles.window) << spacing << ", " << detector;
        }
      }
    }
  }
}

/// Likewise: the samples of all rings are found in one brick each, and as many rings have as many samples as in double precision.
TEST(InterpolatedBrickSweep, HaveEverySampleOfEveryRingOnce) {
  std::vector<interpolated::AngleEntry> angles;
  for (std::int32_t k = 0; k <= interpolated::angle_steps; ++k) angles.push_back(interpolated::angle_entry(k));
  std::size_t all = 0;
  for (const double spacing : spacings) {
    for (const Counts& counts : all_counts) {
      for (std::size_t detector = 0; detector < detectors; ++detector) {
        const ModelGeometry geometry = geometry_of(counts, spacing, detector, 0.0, 21);
        const interpolated::DetectorFrame frame = interpolated::frame_of(geometry.detectors[0], geometry.grid);
        const interpolated::RingFrame ring_frame = interpolated::ring_frame_of(frame);
        const std::int32_t voxels[3] = {static_cast<std::int32_t>(counts.x), static_cast<std::int32_t>(counts.y),
                                        static_cast<std::int32_t>(counts.z)};
        const interpolated::Bricks bricks = interpolated::bricks_of_grid(voxels);
        const double spacing_time = spacing / rate;
        const interpolated::Radii radii{(geometry.start_time.value - 0.5 / rate) / spacing_time, 1.0 / (rate * spacing_time), 22};
        std::vector<interpolated::SeenBrick> seen;
        for (std::int32_t index = 0; index < interpolated::bricks_of(bricks); ++index) {
          seen.push_back(interpolated::seen_brick(frame, interpolated::brick_at(bricks, index), radii));
          ASSERT_LE(seen.back().end_edge - seen.back().first_edge, interpolated::edges_at_most(radii));
        }
        for (std::int32_t edge = 0; edge < radii.edges; ++edge) {
          const double radius = radii.first + edge * radii.step;
          const interpolated::Shell shell = interpolated::shell_of(frame, radius);
          const interpolated::ShellEntry entry = interpolated::shell_entry(frame, radius, 1.0);
          const interpolated::RingShell asked{entry.step, interpolated::pair_of(radius), entry.weight};
          const auto within = [&](const interpolated::RingPart& ring, std::int32_t n, const float* low, const float* high) {
            const auto count = static_cast<std::int32_t>(ring.samples);
            const interpolated::OnCircle at = interpolated::on_circle((n % count + count) % count, count, ring.inverse);
            for (int a = 0; a < 3; ++a) {
              const float place = ring.centre[a] + ring.cosine[a] * at.cosine + ring.sine[a] * at.sine;
              if (!(place >= low[a] && place < high[a])) return false;
            }
            return true;
          };
          const float low[3] = {0.0F, 0.0F, 0.0F};
          const float high[3] = {static_cast<float>(counts.x + 1), static_cast<float>(counts.y + 1),
                                 static_cast<float>(counts.z + 1)};
          std::size_t expected = 0;
          for (std::int32_t k = 0; k < entry.rings; ++k) {
            const interpolated::RingPart ring =
                interpolated::ring_part(ring_frame, seen[0], interpolated::brick_at(bricks, 0), angles.data(), asked, k);
            ASSERT_EQ(static_cast<std::int32_t>(ring.samples), interpolated::ring_of(frame, shell, k).count);
            for (std::int32_t n = 0; n < static_cast<std::int32_t>(ring.samples); ++n)
              expected += within(ring, n, low, high) ? 1 : 0;
          }
          std::size_t found = 0;
          for (std::int32_t index = 0; index < interpolated::bricks_of(bricks) && entry.rings > 0; ++index) {
            const interpolated::SeenBrick& of = seen[static_cast<std::size_t>(index)];
            if (edge < of.first_edge || edge >= of.end_edge) continue;
            const interpolated::Brick brick = interpolated::brick_at(bricks, index);
            const interpolated::RingRange rings = interpolated::rings_within(of, entry, radius);
            for (std::int32_t k = rings.first; k < rings.end; ++k) {
              const interpolated::RingPart part = interpolated::ring_part(ring_frame, of, brick, angles.data(), asked, k);
              for (std::int32_t n = 0; n < part.count; ++n) found += within(part, part.first + n, brick.low, brick.high) ? 1 : 0;
            }
          }
          ASSERT_EQ(found, expected) << spacing << ", " << counts.x << " x " << counts.y << " x " << counts.z << ", detector "
                                     << detector << ", sphere " << edge;
          all += expected;
        }
      }
    }
  }
  EXPECT_GT(all, 100000U);
}

}  // namespace
}  // namespace echoform::test::spacing_sweep
