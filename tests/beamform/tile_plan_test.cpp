// The CUDA beamformer's tables and delays, checked on the host against the law itself in double precision.
#include "stages/beamform/tile_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "stages/beamform/tile_groups.hpp"
#include "stages/beamform/tile_math.hpp"
#include "tests/beamform/options_of.hpp"

namespace echoform::beamform {
namespace {

ImagingPlan make_plan(std::size_t elements, const Grid& grid, std::string_view view) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(elements, Metres(0.65e-3), Metres(0.0), Hertz(5e6), Hertz(0.0));
  plan.acquisition.samples = 2000;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.acquisition.start_time = Seconds(0.413e-6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid = grid;
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, std::string(view)})};
  return plan;
}

struct Place {
  std::uint32_t x, z;
  bool inside;
};
/// Pixel of a place in a tile: patches of 8 x 4 pixels.
Place pixel_of(const ImagingPlan& plan, const TilePlan& tiles, std::size_t tile, std::uint32_t place) {
  const TileShape shape = shape_of(tiles.kind);
  const std::uint32_t across = shape.x / 8;
  const auto x = static_cast<std::uint32_t>(tile % tiles.tiles_x * shape.x + place / 32 % across * 8 + place % 8);
  const auto z =
      static_cast<std::uint32_t>(tile / tiles.tiles_x % tiles.tiles_z * shape.z + place / 32 / across * 4 + place % 32 / 8);
  return {x, z, x < plan.grid.x.count && z < plan.grid.z.count};
}

template <int index_bits, bool half>
std::uint32_t computed_delay(SourceForm form, float phase, bool plane, float x, float z) {
  return plane ? plane_delay_of<index_bits, half>(form, phase, x, z) : delay_of<index_bits, half>(form, phase, x, z);
}

template <bool half>
std::uint32_t analytic_delay(const TileSideTables& side, const TilePlan& tiles, std::size_t entry, Place pixel) {
  const SourceForm form = side.forms[entry];
  const float phase = half ? 0.0F : side.phases[entry];
  const bool plane = tiles.plane && &side == &tiles.transmit;
  const TileSideTables& coordinates = plane ? tiles.receive : side;
  const float x = coordinates.x[pixel.x];
  const float z = coordinates.z[pixel.z];
  switch (shape_of(tiles.kind).index_bits) {
    case 6:
      return computed_delay<6, half>(form, phase, plane, x, z);
    case 7:
      return computed_delay<7, half>(form, phase, plane, x, z);
    default:
      return computed_delay<8, half>(form, phase, plane, x, z);
  }
}

/// Every delay of a side against the law; the greatest error in samples.
double worst_delay(const ImagingPlan& plan, const TilePlan& tiles, const TileSideTables& side, const Leg& leg, bool half) {
  const TileShape shape = shape_of(tiles.kind);
  const double unit = std::ldexp(1.0, static_cast<int>(shape.index_bits) - 32);
  const double offset =
      0.5 * (plan.acquisition.time_offset - plan.acquisition.start_time).value * plan.acquisition.sample_rate.value;
  double worst = 0.0;
  for (std::size_t tile = 0; tile < tiles.tiles(); ++tile) {
    for (std::uint32_t source = 0; source < leg.sources(); ++source) {
      const std::size_t entry = tile * leg.sources() + source;
      const SourceWindow window = side.windows[entry];
      EXPECT_EQ(window.base % 2, 0);
      for (std::uint32_t place = 0; place < shape.x * shape.z; ++place) {
        const Place pixel = pixel_of(plan, tiles, tile, place);
        if (!pixel.inside) continue;
        const Point point{plan.grid.x.at(pixel.x), plan.grid.y.at(0), plan.grid.z.at(pixel.z)};
        double time = 0.0;
        leg.travel_times(source, {&point, 1}, {&time, 1});
        const double exact = time * plan.acquisition.sample_rate.value + offset;
        const std::uint32_t delay = !tiles.analytic ? side.delays[entry * shape.x * shape.z + place]
                                    : half          ? analytic_delay<true>(side, tiles, entry, pixel)
                                                    : analytic_delay<false>(side, tiles, entry, pixel);
        worst = std::max(worst, std::abs(window.base + delay * unit - exact));
        EXPECT_LE(delay * unit, window.reach);
      }
    }
  }
  return worst;
}

class TileDelays : public testing::TestWithParam<bool> {};

TEST_P(TileDelays, EqualTheLaw) {
  const bool half = GetParam();
  ThreadTeam team(2);
  for (const double depth : {0.0, 5e-3}) {
    const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(depth), Metres(depth + 6.9e-3), 75}, {}};
    // Half path: a quarter of 1/1024 is added for rounding, and distances of up to 400 samples are held to 3e-5. Float path: the
    // fraction has 15 bits at least; where a pixel lies much closer to an element than its tile's reference pixel does, at
    // d0 <= 20 samples, the squares cancel down to 2^-24 d0^2 / (2 d), which for the grid's least d is 2e-4.
    const double bound = half ? 0.25 / 1024.0 + 6e-5 : depth > 0.0 ? 4e-5 : 2e-4;
    for (const char* view : {"LL", "LT"}) {
      for (const TileKind kind : {TileKind::large_wide, TileKind::small_wide, TileKind::small_widest, TileKind::gather}) {
        const ImagingPlan plan = make_plan(11, grid, view);
        const TilePlan tiles = make_tile_plan({options_of(plan, MatrixKind::half), half, std::size_t{227} << 10, kind}, team);
        EXPECT_EQ(tiles.analytic, kind != TileKind::gather);
        EXPECT_LT(worst_delay(plan, tiles, tiles.transmit, *plan.laws[0].transmit, half), bound) << view;
        if (tiles.order != PairOrder::once) {
          EXPECT_LT(worst_delay(plan, tiles, tiles.receive, *plan.laws[0].receive, half), bound) << view;
        }
      }
    }
  }
}

/// With waves from -40 to 40 degrees in the place of elements.
ImagingPlan make_wave_plan(std::size_t elements, std::size_t waves, const Grid& grid, const std::string& view) {
  ImagingPlan plan = make_plan(elements, grid, view);
  for (std::size_t k = 0; k < waves; ++k) {
    const double sine =
        std::sin((80.0 * static_cast<double>(k) / static_cast<double>(waves - 1) - 40.0) * std::numbers::pi / 180.0);
    plan.acquisition.events.push_back({PlaneWaveEvent{sine / 6300.0, 0.0, std::nullopt}, {}});
  }
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, view})};
  return plan;
}
BeamformOptions wave_options(const ImagingPlan& plan) {
  return beamform_options(plan, plan_pairs(plan), 0);
}

TEST_P(TileDelays, OfPlaneWavesEqualTheLaw) {
  const bool half = GetParam();
  ThreadTeam team(2);
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  // Half path: as of points. Float path: two sums are rounded, of numbers below 1024 and 512 where indices have 8 bits: 2^-15 +
  // 2^-16 of a sample. In time, at 40 MHz: 7.6 ps on the half path, whose fractions are cut to 24 ps, and 1.25 ps on the float
  // path.
  const double bound = half ? 0.25 / 1024.0 + 6e-5 : 5e-5;
  for (const char* view : {"LL", "TL", "LT"}) {
    for (const TileKind kind : {TileKind::large_wide, TileKind::small_wide, TileKind::small_widest}) {
      const ImagingPlan plan = make_wave_plan(11, 7, grid, view);
      const TilePlan tiles = make_tile_plan({wave_options(plan), half, std::size_t{227} << 10, kind}, team);
      ASSERT_TRUE(tiles.plane);
      EXPECT_LT(worst_delay(plan, tiles, tiles.transmit, *plan.laws[0].transmit, half), bound) << view;
      EXPECT_LT(worst_delay(plan, tiles, tiles.receive, *plan.laws[0].receive, half), bound) << view;
    }
  }
}

TEST_P(TileDelays, OfPlaneWavesDoNotDependOnWhereTheOriginLies) {
  const bool half = GetParam();
  ThreadTeam team(2);
  const Grid grid{{Metres(9.9969), Metres(10.0043), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  ImagingPlan plan = make_wave_plan(11, 7, grid, "LL");
  for (Element& element : plan.acquisition.probe.elements) element.centre.x += Metres(10.0);
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
  const TilePlan tiles = make_tile_plan({wave_options(plan), half}, team);
  ASSERT_TRUE(tiles.plane);
  EXPECT_LT(worst_delay(plan, tiles, tiles.transmit, *plan.laws[0].transmit, half), half ? 0.25 / 1024.0 + 6e-5 : 5e-5);
}

INSTANTIATE_TEST_SUITE_P(Paths, TileDelays, testing::Bool(),
                         [](const auto& path) { return std::string(path.param ? "half" : "single"); });

/// The plan of everything, probe and grid, moved along x: as where positions count from a corner of the part.
ImagingPlan moved(ImagingPlan plan, Metres distance, std::string_view view) {
  for (Element& element : plan.acquisition.probe.elements) element.centre.x += distance;
  plan.grid.x.first += distance;
  plan.grid.x.last += distance;
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, std::string(view)})};
  return plan;
}

TEST_P(TileDelays, DoNotDependOnWhereTheOriginLies) {
  const bool half = GetParam();
  ThreadTeam team(2);
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  const double bound = half ? 0.25 / 1024.0 + 6e-5 : 4e-5;
  // 10 m are 63,500 samples, whose single precision is 0.004.
  const ImagingPlan plan = moved(make_plan(11, grid, "LL"), Metres(10.0), "LL");
  const TilePlan tiles = make_tile_plan({options_of(plan, MatrixKind::half), half}, team);
  EXPECT_TRUE(tiles.analytic);
  EXPECT_LT(worst_delay(plan, tiles, tiles.transmit, *plan.laws[0].transmit, half), bound);
}

TEST_P(TileDelays, ComeFromTablesWhereSinglePrecisionDoesNotHoldThem) {
  const bool half = GetParam();
  ThreadTeam team(2);
  // 10 m deep: 63,500 samples a leg.
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(10.0), Metres(10.0069), 75}, {}};
  ImagingPlan plan = make_plan(11, grid, "LL");
  plan.acquisition.start_time = Seconds(3.174e-3);
  const double bound = half ? 0.25 / 1024.0 + 6e-5 : 4e-5;
  const TilePlan tiles = make_tile_plan({options_of(plan, MatrixKind::half), half}, team);
  EXPECT_EQ(tiles.analytic, !half);
  EXPECT_LT(worst_delay(plan, tiles, tiles.transmit, *plan.laws[0].transmit, half), bound);
}

/// Notes how tables come.
class NotedTables final : public TileTableStore {
 public:
  void begin(TileSideName side, std::size_t entries, bool weighted) override {
    delays(side).resize(entries);
    weights(side).resize(weighted ? entries : 0);
  }
  void add(TileSideName side, std::size_t first, std::span<const std::uint32_t> more,
           std::span<const float> more_weights) override {
    most = std::max(most, more.size());
    ++pieces;
    std::copy(more.begin(), more.end(), delays(side).begin() + static_cast<std::ptrdiff_t>(first));
    std::copy(more_weights.begin(), more_weights.end(), weights(side).begin() + static_cast<std::ptrdiff_t>(first));
  }
  void begin_places(std::size_t entries) override { places.resize(entries); }
  void add_places(std::size_t first, std::span<const TurnedPlace> more) override {
    most = std::max(most, more.size());
    ++pieces;
    std::copy(more.begin(), more.end(), places.begin() + static_cast<std::ptrdiff_t>(first));
  }
  std::vector<std::uint32_t>& delays(TileSideName side) { return delays_[static_cast<std::size_t>(side)]; }
  std::vector<float>& weights(TileSideName side) { return weights_[static_cast<std::size_t>(side)]; }
  std::vector<TurnedPlace> places;
  std::size_t most = 0;
  int pieces = 0;

 private:
  std::array<std::vector<std::uint32_t>, 2> delays_;
  std::array<std::vector<float>, 2> weights_;
};

TEST(TilePlan, TablesComeInPieces) {
  ThreadTeam team(2);
  const Grid grid{{Metres(-10e-3), Metres(10e-3), 512}, {Metres(1e-3), Metres(20e-3), 512}, {}};
  ImagingPlan plan = make_plan(24, grid, "LT");
  plan.apodization.window = ApodizationWindow::hann;
  const BeamformOptions options = options_of(plan, MatrixKind::half);
  const TilePlanRequest request{options, false};
  const TilePlan kept = make_tile_plan(request, team);
  NotedTables noted;
  const TilePlan stored = make_tile_plan(request, team, &noted);
  EXPECT_EQ(noted.delays(TileSideName::transmit), kept.transmit.delays);
  EXPECT_EQ(noted.delays(TileSideName::receive), kept.receive.delays);
  EXPECT_EQ(noted.weights(TileSideName::transmit), kept.transmit.weights);
  EXPECT_EQ(noted.weights(TileSideName::receive), kept.receive.weights);
  EXPECT_FALSE(kept.transmit.delays.empty());
  EXPECT_TRUE(stored.transmit.delays.empty() && stored.transmit.weights.empty() && stored.receive.delays.empty());
  EXPECT_LE(noted.most, std::size_t{4} << 20) << "numbers that the host holds at a time, of 6.3 million";
  EXPECT_EQ(noted.pieces, 4);
}

TEST(TilePlan, PlacesOfWavesOfRevolutionComeInPieces) {
  ThreadTeam team(2);
  const Grid volume{{Metres(-10e-3), Metres(10e-3), 160}, {Metres(1e-3), Metres(20e-3), 192}, {Metres(-8e-3), Metres(8e-3), 160}};
  ImagingPlan plan = make_wave_plan(8, 3, volume, "LL");
  const BeamformOptions options = wave_options(plan);
  const TilePlanRequest request{options, false};
  const TilePlan kept = make_tile_plan(request, team);
  ASSERT_TRUE(kept.turned && !kept.points);
  NotedTables noted;
  const TilePlan stored = make_tile_plan(request, team, &noted);
  EXPECT_TRUE(stored.transmit.places.empty());
  ASSERT_EQ(noted.places.size(), kept.transmit.places.size());
  for (std::size_t k = 0; k < noted.places.size(); ++k) {
    ASSERT_EQ(noted.places[k].along, kept.transmit.places[k].along) << k;
    ASSERT_EQ(noted.places[k].out, kept.transmit.places[k].out) << k;
  }
  EXPECT_LE(noted.most, std::size_t{4} << 20) << "places that the host holds at a time, of 4.9 million";
  EXPECT_EQ(noted.pieces, 2);
  // What the device holds is no less, and less than 4 bytes a voxel of every receiver.
  const std::size_t bytes = tile_table_bytes(options, false);
  EXPECT_LE(bytes,
            noted.places.size() * sizeof(TurnedPlace) + kept.transmit.windows.size() * 28 + kept.receive.windows.size() * 28);
  EXPECT_LT(bytes, volume.pixels() * 8 * sizeof(std::uint32_t));
}

TEST(TilePlan, ChoosesTheLargestTilesWhoseWindowsHold) {
  ThreadTeam team(1);
  const auto kind_of = [&](double millimetres) {
    const Metres size(1e-3 * millimetres);
    const Grid grid{{-0.5 * size, 0.5 * size, 64}, {Metres(0.5e-3), Metres(0.5e-3) + size, 64}, {}};
    const ImagingPlan plan = make_plan(16, grid, "LL");
    return make_tile_plan({options_of(plan, MatrixKind::half_summed), true}, team).kind;
  };
  EXPECT_EQ(kind_of(4.0), TileKind::large_narrow);
  EXPECT_EQ(kind_of(9.0), TileKind::large_wide);
  EXPECT_EQ(kind_of(18.0), TileKind::small_wide);
  EXPECT_EQ(kind_of(36.0), TileKind::small_widest);
  EXPECT_EQ(kind_of(300.0), TileKind::gather);
}

TEST(TilePlan, ChoosesNoTablesForPlaneWavesInContact) {
  ThreadTeam team(2);
  const auto plan_of = [&](std::size_t pixels) {
    const Grid grid{{Metres(-37.5e-3), Metres(37.5e-3), pixels}, {Metres(0.5e-3), Metres(75.5e-3), pixels}, {}};
    ImagingPlan plan = make_wave_plan(128, 32, grid, "LL");
    for (std::size_t k = 0; k < 32; ++k) {
      const double angle = (40.0 * static_cast<double>(k) / 31.0 - 20.0) * std::numbers::pi / 180.0;
      plan.acquisition.events[k] = {plane_wave(angle, MetresPerSecond(6300.0)), {}};
    }
    plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
    return plan;
  };
  // What `bench frame` images. 16 x 16 tiles of 256 x 256 pixels reach up to 82 samples; 32 x 16 ones of 512 x 512 up to 63.
  for (const auto& [pixels, kind] : {std::pair{256, TileKind::small_wide}, std::pair{512, TileKind::large_narrow}}) {
    const ImagingPlan plan = plan_of(static_cast<std::size_t>(pixels));
    const TilePlan tiles = make_tile_plan({wave_options(plan), true}, team);
    EXPECT_TRUE(tiles.plane);
    EXPECT_EQ(tiles.kind, kind) << pixels;
    EXPECT_TRUE(tiles.transmit.delays.empty() && tiles.receive.delays.empty());
    EXPECT_EQ(tiles.scale, 1.0F);
  }
}

TEST(TilePlan, ChoosesNoTablesForWeighedWavesAndSomeThatReachNothing) {
  ThreadTeam team(1);
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  ImagingPlan plan = make_wave_plan(11, 4, grid, "LL");
  // In T it propagates, in L it does not.
  plan.acquisition.events.push_back({PlaneWaveEvent{1.2 / 6300.0, 0.0, std::nullopt}, {}});
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
  plan.event_weights = {0.5F, 0.0F, -2.0F, 1.0F, 1.0F};
  const TilePlan tiles = make_tile_plan({wave_options(plan), true}, team);
  ASSERT_TRUE(tiles.plane);
  EXPECT_EQ(tiles.scale, 2.0F);
  const float weights[] = {0.25F, 0.0F, -1.0F, 0.5F, 0.0F};
  for (std::size_t wave = 0; wave < 5; ++wave) {
    EXPECT_EQ(tiles.transmit.forms[wave].c, weights[wave]);
    EXPECT_EQ(tiles.transmit.windows[wave].reach < 0, weights[wave] == 0.0F)
        << "nothing is copied for a wave that does not count";
  }
}

TEST(TilePlan, RefusesWavesOfOneSecond) {
  ThreadTeam team(1);
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  ImagingPlan plan = make_wave_plan(11, 4, grid, "LL");
  plan.acquisition.events[2] = {PlaneWaveEvent{0.0, 0.0, Seconds(0.9999999)}, {}};
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, "LL"})};
  EXPECT_THROW(static_cast<void>(make_tile_plan({wave_options(plan), true}, team)), InputError);
}

TEST(TilePlan, ChoosesTablesWhereWavesAreNotPlaneOrWeightsVary) {
  ThreadTeam team(1);
  const Grid grid{{Metres(-3.1e-3), Metres(4.3e-3), 83}, {Metres(5e-3), Metres(11.9e-3), 75}, {}};
  ImagingPlan directed = make_wave_plan(11, 4, grid, "LL");
  directed.apodization.directivity = true;
  EXPECT_FALSE(make_tile_plan({wave_options(directed), true}, team).analytic);
  // A focus has a beam, outside of which nothing arrives.
  ImagingPlan focused = make_wave_plan(11, 4, grid, "LL");
  const Point focus{Metres(0.0), Metres(0.0), Metres(8e-3)};
  focused.acquisition.events[1] = {PointWaveEvent{focus, MetresPerSecond(6300.0), std::nullopt}, {}};
  focused.laws = {make_delay_law("contact", {focused.acquisition, focused.material, "LL"})};
  EXPECT_FALSE(make_tile_plan({wave_options(focused), true}, team).analytic);
  // Virtual sources are points.
  ImagingPlan diverging = make_wave_plan(11, 4, grid, "LL");
  for (TransmitEvent& event : diverging.acquisition.events) {
    event = {PointWaveEvent{{Metres(1e-3), Metres(0.0), Metres(-9e-3)}, MetresPerSecond(6300.0), std::nullopt}, {}};
  }
  diverging.laws = {make_delay_law("contact", {diverging.acquisition, diverging.material, "LL"})};
  const TilePlan points = make_tile_plan({wave_options(diverging), true}, team);
  EXPECT_TRUE(points.analytic && !points.plane);
}

TEST(TilePlan, StaysWithinTheDevicesSharedMemory) {
  ThreadTeam team(1);
  const Grid grid{{Metres(-4.5e-3), Metres(4.5e-3), 64}, {Metres(0.5e-3), Metres(9.5e-3), 64}, {}};
  const ImagingPlan plan = make_plan(16, grid, "LL");
  const auto kind_of = [&](std::size_t limit) {
    return make_tile_plan({options_of(plan, MatrixKind::half_summed), true, limit}, team).kind;
  };
  EXPECT_EQ(kind_of(std::size_t{227} << 10), TileKind::large_wide);
  // As much as devices of compute capability 8.9 have holds no two stages of wide windows.
  const TileKind smaller = kind_of(98'000);
  EXPECT_LE(tile_shared_bytes(smaller, true, true, {16, 16}, true), 98'000u);
  EXPECT_EQ(kind_of(1000), TileKind::gather);
}

TEST(TilePlan, CountsTheBlocksThatTheTablesOfManySourcesLeaveRoomFor) {
  const auto resident = [](TileKind kind, std::uint32_t sources, bool once, const SharedMemory& device) {
    return resident_blocks(kind, tile_shared_bytes(kind, true, true, {sources, sources}, once), device);
  };
  // Compute capability 9.0. Wide windows alone take 99,328 bytes, narrow ones 66,048; a source's tables 24 a side.
  constexpr SharedMemory h200{233'472, 1024};
  EXPECT_EQ(resident(TileKind::large_narrow, 128, true, h200), 3u);
  EXPECT_EQ(resident(TileKind::large_wide, 128, true, h200), 2u);
  EXPECT_EQ(resident(TileKind::large_narrow, 512, true, h200), 2u);
  EXPECT_EQ(resident(TileKind::large_wide, 512, true, h200), 2u);
  EXPECT_EQ(resident(TileKind::large_wide, 512, false, h200), 1u);
  // 8.9: one block, whatever the shape is made for.
  constexpr SharedMemory l40{102'400, 1024};
  EXPECT_EQ(resident(TileKind::large_narrow, 128, true, l40), 1u);
  EXPECT_EQ(resident(TileKind::gather, 128, true, l40), shape_of(TileKind::gather).blocks);
  // Fewer blocks at once are busy with fewer parts. 256 x 256 pixels in large tiles on 132 multiprocessors:
  EXPECT_EQ(split_count(128, group_count(512, 8, PairOrder::once), std::size_t{132} * 3), 19u);
  EXPECT_EQ(split_count(128, group_count(512, 8, PairOrder::once), std::size_t{132} * 2), 13u);
  EXPECT_EQ(split_count(4000, 136, std::size_t{132} * 3), 1u);
  EXPECT_EQ(split_count(1, 8, std::size_t{132} * 3), 2u) << "at least four groups a part";
}

TEST(TilePlan, KnowsWhichTilesReachOverTheEndsOfTheAScan) {
  ThreadTeam team(1);
  const Grid grid{{Metres(-4e-3), Metres(4e-3), 64}, {Metres(1e-3), Metres(40e-3), 312}, {}};
  ImagingPlan plan = make_plan(8, grid, "LL");
  const auto checked = [&](std::size_t samples) {
    plan.acquisition.samples = samples;
    const TilePlan tiles = make_tile_plan({options_of(plan, MatrixKind::half_summed), false}, team);
    return std::count(tiles.checked.begin(), tiles.checked.end(), 1);
  };
  // The shallowest pixels are reached before the start time here, so some tiles are checked at any length.
  plan.acquisition.start_time = Seconds(0.0);
  EXPECT_EQ(checked(2000), 0);
  EXPECT_GT(checked(300), 0);
}

TEST(TilePlan, GoesThroughGroupsOfWavesFirst) {
  // 3 groups of waves, 2 of receivers.
  Group group = plane_group_at(0, 3);
  for (std::uint32_t index = 0; index < 6; ++index) {
    EXPECT_EQ(group.i, index % 3);
    EXPECT_EQ(group.j, index / 3);
    EXPECT_EQ(plane_group_at(index, 3).i, group.i);
    EXPECT_EQ(plane_group_at(index, 3).j, group.j);
    group = next_plane_group(group, 3);
  }
}

TEST(TilePlan, CountsGroupsOnceOrBothWays) {
  EXPECT_EQ(group_count(128, 8, PairOrder::once), 136u);
  EXPECT_EQ(group_count(128, 8, PairOrder::ordered_full), 256u);
  EXPECT_EQ(group_count(9, 8, PairOrder::ordered_half), 4u);
}

}  // namespace
}  // namespace echoform::beamform
