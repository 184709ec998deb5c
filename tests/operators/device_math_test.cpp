// Arithmetic of the CUDA models, on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "operators/interpolated_frame.hpp"
#include "operators/interpolated_ring_math.hpp"
#include "operators/spherical_moments.hpp"
#include "operators/spherical_tile_math.hpp"
#include "tests/operators/model_cases.hpp"

namespace echoform::test {
namespace {

TEST(MomentSeries, IsTheSpectrumOfAnImpulseInItsCell) {
  for (const double w : {0.0, 0.2, 1.0, 0.5 * std::numbers::pi, -0.5 * std::numbers::pi}) {
    const auto series = moment_series(w);
    for (const double u : {-0.5, -0.21, 0.0, 0.37, 0.5}) {
      std::complex<double> sum = 0.0;
      double power = 1.0;
      for (const std::complex<double>& value : series) {
        sum += value * power;
        power *= u;
      }
      // 2 J6(pi / 4) and what follows it.
      EXPECT_LE(std::abs(sum - std::polar(1.0, -w * (0.5 + u))), 1.1e-5) << w << ", " << u;
    }
  }
}

TEST(SphericalTiles, ArrivalsAreWithinTheWindowAndRight) {
  const spherical::Listener listener{{300.0, -700.0, 123.0}, {}, {}};
  const spherical::Lattice lattice{{-30.0, -20.0, 10.0}, 1.7};
  const std::int64_t voxels[3] = {37, 5, 20};
  const spherical::Tiles tiles = spherical::tiles_of_grid(voxels, lattice.spacing, 0);
  const auto least = static_cast<float>(1e-4 * lattice.spacing * lattice.spacing);
  std::int64_t seen = 0;
  for (std::int32_t index = 0; index < spherical::tiles_of(tiles); ++index) {
    const spherical::TilePlace place = spherical::tile_at(tiles, index);
    const spherical::HeardTile heard = spherical::tile_heard_by(listener, lattice, tiles, place, 500.25);
    for (std::int32_t n = 0; n < place.count[0] * place.count[1] * place.count[2]; ++n) {
      const std::int32_t k[3] = {n % place.count[0], n / place.count[0] % place.count[1], n / place.count[0] / place.count[1]};
      float longer = 0.0F;
      double square = 0.0;
      for (int a = 0; a < 3; ++a) {
        longer = spherical::longer_by(heard, a, spherical::tile_offset(tiles, a, k[a]), longer);
        square += std::pow(lattice.first[a] + (place.first[a] + k[a]) * lattice.spacing - listener.place[a], 2);
      }
      const spherical::TileArrival arrival = spherical::tile_arrival(heard, longer, least);
      const spherical::CellPlace at = spherical::cell_at(arrival.time);
      EXPECT_TRUE(at.cell >= 0 && at.cell < tiles.window);
      // Single precision of some 50 samples.
      EXPECT_NEAR(heard.base + at.cell + 0.5 + static_cast<double>(at.u), std::sqrt(square) - 500.25, 2e-5);
      EXPECT_NEAR(static_cast<double>(arrival.loudness) * std::sqrt(square), 1.0, 1e-6);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 37 * 5 * 20);
}

TEST(SphericalTiles, ArrivalsFromBeyondAllReachAreWithinTheWindowAndOfNoGrid) {
  const spherical::Lattice lattice{{-30.0, -20.0, 10.0}, 1.7};
  const std::int64_t voxels[3] = {16, 16, 16};
  const spherical::Tiles tiles = spherical::tiles_of_grid(voxels, lattice.spacing, 0);
  const auto least = static_cast<float>(1e-4 * lattice.spacing * lattice.spacing);
  for (const double place : {1e10, 1e14, 1e20, 1e160, 1e300}) {
    for (const double shift : {0.0, 1e300, -std::numeric_limits<double>::infinity()}) {
      const spherical::Listener listener{{place, -place, 0.0}, {}, {}};
      const spherical::HeardTile heard = spherical::tile_heard_by(listener, lattice, tiles, spherical::tile_at(tiles, 0), shift);
      EXPECT_GT(heard.base, 100000000);
      for (std::int32_t k = 0; k < tiles.edge[0]; ++k) {
        float longer = 0.0F;
        for (int a = 0; a < 3; ++a) longer = spherical::longer_by(heard, a, spherical::tile_offset(tiles, a, k), longer);
        const spherical::TileArrival arrival = spherical::tile_arrival(heard, longer, least);
        const spherical::CellPlace at = spherical::cell_at(arrival.time);
        EXPECT_TRUE(at.cell >= 0 && at.cell < tiles.window) << place << ", " << shift;
        EXPECT_TRUE(std::isfinite(arrival.loudness));
      }
    }
  }
}

std::vector<interpolated::AngleEntry> angle_table() {
  std::vector<interpolated::AngleEntry> angles;
  for (std::int32_t k = 0; k <= interpolated::angle_steps; ++k) angles.push_back(interpolated::angle_entry(k));
  return angles;
}

TEST(InterpolatedRings, AreThoseOfDoublePrecision) {
  ModelGeometry geometry = ball_geometry(Metres(0.04e-3));                     // 300 voxels away
  geometry.detectors.push_back(detector_at({}, Metres(0.5e-3), 30.0, 200.0));  // amidst the grid
  const auto angles = angle_table();
  const std::int32_t voxels[3] = {150, 150, 150};
  const interpolated::Brick brick = interpolated::brick_at(interpolated::bricks_of_grid(voxels), 60);
  std::int64_t checked = 0;
  std::int64_t other_counts = 0;
  for (const Detector& detector : geometry.detectors) {
    const interpolated::DetectorFrame frame = interpolated::frame_of(detector, geometry.grid);
    const interpolated::RingFrame ring_frame = interpolated::ring_frame_of(frame);
    const interpolated::Radii radii{0.3, 7.3, 70};
    const interpolated::SeenBrick seen = interpolated::seen_brick(frame, brick, radii);
    for (std::int32_t edge = 0; edge < radii.edges; ++edge) {
      const double radius = radii.first + edge * radii.step;
      const interpolated::Shell shell = interpolated::shell_of(frame, radius);
      const interpolated::ShellEntry entry = interpolated::shell_entry(frame, radius, 1.0);
      const interpolated::RingShell asked{entry.step, interpolated::pair_of(radius), entry.weight};
      for (std::int32_t k = 0; k < entry.rings; ++k) {
        const interpolated::Ring ring = interpolated::ring_of(frame, shell, k);
        const interpolated::RingPart part = interpolated::ring_part(ring_frame, seen, brick, angles.data(), asked, k);
        other_counts += part.samples == static_cast<float>(ring.count) ? 0 : 1;
        if (part.samples == static_cast<float>(ring.count)) {
          EXPECT_NEAR(part.weight, ring.share * radius, 3e-7 * ring.share * radius);
          EXPECT_NEAR(part.inverse * static_cast<float>(ring.count), 1.0F, 1e-6F);
        }
        for (int a = 0; a < 3; ++a) {
          // Single precision of places up to 512 voxels.
          EXPECT_NEAR(part.centre[a], ring.centre[a], 6.2e-5) << edge << ", " << k;
          EXPECT_NEAR(part.cosine[a], ring.cosine[a], 6.2e-5) << edge << ", " << k;
          EXPECT_NEAR(part.sine[a], ring.sine[a], 6.2e-5) << edge << ", " << k;
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 10000);
  EXPECT_LE(other_counts, 1);  // halves of samples, rounded the other way
}

TEST(InterpolatedBricks, HaveEverySampleOfEveryRingOnce) {
  ModelGeometry geometry = ball_geometry(Metres(0.2e-3));  // 30 voxels along each axis: 2 bricks
  geometry.grid.y = {Metres(-1e-3), Metres(1e-3), 11};
  geometry.detectors.push_back(detector_at({}, Metres(3.6e-3), 30.0, 200.0));  // close to the grid
  const std::int32_t voxels[3] = {30, 11, 30};
  const interpolated::Bricks bricks = interpolated::bricks_of_grid(voxels);
  EXPECT_EQ(interpolated::bricks_of(bricks), 4);
  const interpolated::Radii radii{0.3, 0.73, 130};
  const auto angles = angle_table();
  std::size_t all = 0;
  std::size_t checked = 0;
  for (const Detector& detector : geometry.detectors) {
    const interpolated::DetectorFrame frame = interpolated::frame_of(detector, geometry.grid);
    const interpolated::RingFrame ring_frame = interpolated::ring_frame_of(frame);
    for (std::int32_t edge = 0; edge < radii.edges; ++edge) {
      const double radius = radii.first + edge * radii.step;
      const interpolated::Shell shell = interpolated::shell_of(frame, radius);
      const auto within = [](const interpolated::RingPart& ring, std::int32_t n, const float* low, const float* high) {
        const auto count = static_cast<std::int32_t>(ring.samples);
        const std::int32_t of_ring = (n % count + count) % count;
        const interpolated::OnCircle at = interpolated::on_circle(of_ring, count, ring.inverse);
        for (int a = 0; a < 3; ++a) {
          const float place = ring.centre[a] + ring.cosine[a] * at.cosine + ring.sine[a] * at.sine;
          if (!(place >= low[a] && place < high[a])) return false;
        }
        return true;
      };
      const float low[3] = {0.0F, 0.0F, 0.0F};
      const float high[3] = {31.0F, 12.0F, 31.0F};
      const interpolated::ShellEntry entry = interpolated::shell_entry(frame, radius, 1.0);
      const interpolated::RingShell asked{entry.step, interpolated::pair_of(radius), entry.weight};
      std::size_t expected = 0;
      const interpolated::SeenBrick any = interpolated::seen_brick(frame, interpolated::brick_at(bricks, 0), radii);
      for (std::int32_t k = 0; k < shell.rings; ++k) {
        const interpolated::RingPart ring =
            interpolated::ring_part(ring_frame, any, interpolated::brick_at(bricks, 0), angles.data(), asked, k);
        for (std::int32_t n = 0; n < static_cast<std::int32_t>(ring.samples); ++n) expected += within(ring, n, low, high) ? 1 : 0;
      }
      std::size_t found = 0;
      for (std::int32_t index = 0; index < 4 && shell.rings > 0; ++index) {
        const interpolated::Brick brick = interpolated::brick_at(bricks, index);
        const interpolated::SeenBrick seen = interpolated::seen_brick(frame, brick, radii);
        if (edge < seen.first_edge || edge >= seen.end_edge) continue;
        EXPECT_LE(seen.end_edge - seen.first_edge, interpolated::edges_at_most(radii));
        const interpolated::RingRange rings = interpolated::rings_within(seen, entry, radius);
        for (std::int32_t k = rings.first; k < rings.end; ++k) {
          const interpolated::RingPart part = interpolated::ring_part(ring_frame, seen, brick, angles.data(), asked, k);
          checked += static_cast<std::size_t>(part.count);
          for (std::int32_t n = 0; n < part.count; ++n) {
            found += within(part, part.first + n, brick.low, brick.high) ? 1 : 0;
          }
        }
      }
      EXPECT_EQ(found, expected) << edge;
      all += expected;
    }
  }
  EXPECT_GT(all, 10000U);
  EXPECT_LT(checked, 2 * all);  // it is worth while
  RecordProperty("checked", std::to_string(static_cast<double>(checked) / static_cast<double>(all)));
}

}  // namespace
}  // namespace echoform::test
