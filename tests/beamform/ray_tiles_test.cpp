// Delay tables that the device makes of rays, against those that the host makes of the same law.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <utility>

#include "cpu/thread_team.hpp"
#include "delay_laws/delay_law.hpp"
#include "gpu/cuda_backend.hpp"
#include "rays/surface_kind.hpp"
#include "stages/beamform/ray_turn_math.hpp"
#include "stages/beamform/tile_plan.hpp"
#include "stages/beamform/tile_side.hpp"
#include "tests/beamform/options_of.hpp"
#include "tests/rays/brute_force.hpp"
#include "tests/rays/shading_fronts.hpp"
#include "tests/support/require_gpu.hpp"
#ifdef ECHOFORM_WITH_CUDA
#include "stages/beamform/ray_tiles.hpp"
#endif

namespace echoform {
namespace {

struct Part {
  std::string name;
  Scene scene;
  std::vector<std::string> views;
  bool volume = false;
  std::size_t agree = 100000;  ///< one entry in so many may have a ray by one of both alone
  double aside = 0.0;          ///< m, by which the pixels are moved along x
};

[[maybe_unused]] Scene immersed(SurfaceDescription front, double backwall = 0.0) {
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.surface = make_surface(std::move(front));
  if (backwall > 0.0) scene.backwall = make_surface({"[backwall]", "plane", {{"z", backwall}}, {}});
  return scene;
}

[[maybe_unused]] Scene immersed_across() {
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.spatial_surface = make_any_surface({"[surface]", "plane", {{"angle", 5.0}, {"angle_across", -11.0}}, {}}).spatial;
  return scene;
}

[[maybe_unused]] Scene turned_cylinder() {
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.spatial_surface =
      make_any_surface({"[surface]", "cylinder", {{"radius", 25e-3}, {"turn", 35.0}, {"dip", -9.0}}, {}}).spatial;
  return scene;
}

/// A parabola of many cubic pieces, which no straight line meets three times.
[[maybe_unused]] Scene arched() {
  const auto at = [](int n) { return Vector2{1e-3 * n, 5.0 * 1e-6 * n * n}; };
  const auto slope = [](int n) { return Vector2{1e-3, 10.0 * 1e-6 * n}; };
  std::vector<Segment> segments;
  for (int k = -30; k < 30; ++k) segments.push_back(cubic_segment(at(k), slope(k), at(k + 1), slope(k + 1)));
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.surface = std::make_shared<const Surface>("arch", std::move(segments));
  return scene;
}

/// Two planes that meet in an edge: rays to it are left to the host.
[[maybe_unused]] Scene ridged() {
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.surface = std::make_shared<const Surface>(
      "ridge", std::vector{line_segment({-40e-3, 4e-3}, {0.5e-3, 0.0}), line_segment({0.5e-3, 0.0}, {40e-3, 4e-3})});
  return scene;
}

[[maybe_unused]] Scene below(const shading::Front& front) {
  Scene scene;
  scene.couplant = MetresPerSecond(1480.0);
  scene.surface = front.surface;
  return scene;
}

/// Of an image in the plane of a linear probe, or of a volume below a matrix array.
[[maybe_unused]] ImagingPlan plan_of(const Scene& scene, const std::string& view, bool volume, double aside = 0.0) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(19, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  if (volume) {
    plan.acquisition.probe = make_matrix_probe(
        {.columns = 5, .rows = 3, .pitch = Metres(0.6e-3), .row_pitch = Metres(1.1e-3), .width = {}, .length = {}}, Hertz(5e6),
        Hertz(3e6));
  }
  for (Element& element : plan.acquisition.probe.elements) element.centre.z = Metres(-15e-3);
  plan.acquisition.samples = 3000;
  plan.acquisition.sample_rate = Hertz(50e6);
  plan.acquisition.start_time = Seconds(18.3e-6);
  plan.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-7e-3 + aside), Metres(6e-3 + aside), 83}, {Metres(-1e-3), Metres(21e-3), 117}, {}};
  if (volume) {
    plan.grid = {{Metres(-7e-3), Metres(6e-3), 45}, {Metres(-1e-3), Metres(21e-3), 39}, {Metres(-6e-3), Metres(4e-3), 11}};
  }
  DelayLaw law = make_delay_law("immersion", {plan.acquisition, plan.material, view, scene});
  const bool reciprocal = law.reciprocal();
  if (const auto table = law.transmit->tabulated(plan.grid, 2)) law.transmit = table;
  if (const auto table = law.receive->tabulated(plan.grid, 2)) law.receive = table;
  if (reciprocal) law.receive = law.transmit;
  plan.laws = {law};
  return plan;
}

#ifdef ECHOFORM_WITH_CUDA
template <class T>
std::vector<T> fetch(const T* from, std::size_t count) {
  std::vector<T> values(from == nullptr ? 0 : count);
  if (from != nullptr) copy_now(values.data(), from, count * sizeof(T));
  return values;
}
#endif

TEST(RayTiles, KeepWhatTheSearchFoundInThePlaceOfTheTime) {
  for (const std::uint32_t node : {0U, 1U, 77U, 0x7fffffffU}) {
    for (const std::uint32_t several : {0U, beamform::Turn::several}) {
      for (const float start : {0.0F, 0.25F, 1.0F, -1e-30F}) {
        // Kept among times, as the device does.
        std::vector<double> times(3, 1e-6);
        times[1] = beamform::kept_as_time({node | several, start});
        const beamform::Turn turn = beamform::turn_kept_in(times[1]);
        EXPECT_EQ(turn.node, node | several);
        EXPECT_EQ(turn.start, start);
        times[1] = 2e-6;
        EXPECT_EQ(times, (std::vector<double>{1e-6, 2e-6, 1e-6}));
      }
    }
  }
}

TEST(RayTiles, KeepUpToFourTurnsOfARay) {
  for (std::uint32_t count = 0; count <= 6; ++count) {
    beamform::KeptTurns turns;
    for (std::uint32_t k = 0; k < count; ++k) turns.add(k == 1 ? 0xfffeU : 1 + k);
    const double time = beamform::kept_as_time(turns);
    turns = beamform::turns_kept_in(time);
    EXPECT_EQ(turns.nodes == beamform::KeptTurns::too_many, count > 4);
    if (count > 4) continue;
    for (std::uint32_t k = count; k-- > 0;) EXPECT_EQ(turns.take(), k == 1 ? 0xfffeU : 1 + k);
    EXPECT_EQ(turns.take(), 0U);
  }
}

TEST(RayTiles, AreTheHostsTables) {
  ECHOFORM_REQUIRE_GPU();
#ifdef ECHOFORM_WITH_CUDA
  const auto backend = make_cuda_backend();
  ThreadTeam team(2);
  std::vector<Part> parts{
      {"plane", immersed({"[surface]", "plane", {{"angle", 7.0}}, {}}), {"LL", "LT"}},
      {"plane with backwall", immersed({"[surface]", "plane", {}, {}}, 24e-3), {"TT-T", "LTL-T"}},
      {"cylinder", immersed({"[surface]", "cylinder", {{"radius", 40e-3}}, {}}), {"LL", "TL"}},
      {"arch", arched(), {"LL", "LT"}},
      {"plane, a volume", immersed({"[surface]", "plane", {{"angle", 7.0}}, {}}), {"LL", "LT"}, true},
      {"plane with backwall, a volume", immersed({"[surface]", "plane", {}, {}}, 24e-3), {"LTL-T"}, true},
      {"cylinder, a volume", immersed({"[surface]", "cylinder", {{"radius", 40e-3}}, {}}), {"LL", "TL", "TT"}, true},
      {"thin cylinder, a volume", immersed({"[surface]", "cylinder", {{"radius", 7e-3}, {"x", 1e-3}}, {}}), {"LL", "LT"}, true},
      {"bore, a volume", immersed({"[surface]", "cylinder", {{"radius", 12e-3}}, {{"side", "inside"}}}), {"LL", "LT"}, true},
      {"arch, a volume", arched(), {"LL"}, true},
      {"ridge, a volume", ridged(), {"LL", "LT"}, true},
      {"turned cylinder", turned_cylinder(), {"LL"}},
      {"turned cylinder, a volume", turned_cylinder(), {"LL", "LT"}, true},
      {"plane tilted across", immersed_across(), {"LL", "TL"}},
      {"plane tilted across, a volume", immersed_across(), {"LL", "TL"}, true},
  };
  // Aside, or a pixel at (6, 4.5) mm lies on the line of three pieces of the wave of lines: on which side of them it lies, and
  // with it whether there is a ray that leaves along them, would hang on rounding.
  for (const shading::Front& front : shading::fronts())
    parts.push_back({front.name, below(front), {"LL", "LT"}, false, 20000, 1.3e-6});
  for (const Part& part : parts) {
    for (const std::string& view : part.views) {
      const ImagingPlan plan = plan_of(part.scene, view, part.volume, part.aside);
      for (const std::optional<beamform::TileKind> kind :
           {std::optional<beamform::TileKind>{}, std::optional{beamform::TileKind::gather}}) {
        SCOPED_TRACE(part.name + " " + view);
        const BeamformOptions options = options_of(plan, MatrixKind::half);
        const beamform::TilePlanRequest request{options, false, std::size_t{227} << 10, kind};
        const auto rays = beamform::make_ray_tiles(request, *backend);
        ASSERT_NE(rays, nullptr);
        rays->build();
        rays->build();  // once more into the same memory
        const beamform::TilePlan host = beamform::make_tile_plan(request, team);
        ASSERT_EQ(rays->plan().kind, host.kind);
        ASSERT_EQ(rays->plan().order, host.order);
        ASSERT_EQ(rays->plan().tiles(), host.tiles());
        const std::size_t entries = host.tiles() * plan.acquisition.elements();
        const beamform::TileShape shape = shape_of(host.kind);
        const std::size_t pixels = std::size_t{shape.x} * shape.z;
        const double unit = std::ldexp(1.0, static_cast<int>(shape.index_bits) - 32);
        const auto compare = [&](const beamform::TileSideTables& tables, const beamform::TileSide& side) {
          const auto windows = fetch(side.windows, entries);
          const auto delays = fetch(side.delays, entries * pixels);
          const auto weights = fetch(side.weights, entries * pixels);
          ASSERT_EQ(weights.size(), tables.weights.size());
          double worst = 0.0;
          std::size_t at = 0;
          std::size_t others = 0;
          for (std::size_t k = 0; k < entries * pixels; ++k) {
            if (!weights.empty() && weights[k] != tables.weights[k]) ++others;
            if (!weights.empty() && (weights[k] == 0.0F || tables.weights[k] == 0.0F)) continue;
            const double here = windows[k / pixels].base + delays[k] * unit;
            const double there = tables.windows[k / pixels].base + tables.delays[k] * unit;
            if (std::abs(here - there) > worst) at = k;
            worst = std::max(worst, std::abs(here - there));
            ASSERT_LE(delays[k] * unit, windows[k / pixels].reach);
          }
          // The host's times went through a table in single precision, good to 3e-12 s: 1.5e-4 samples.
          const std::size_t sources = plan.acquisition.elements();
          std::vector<Point> points;
          tile_points(plan.grid, shape, beamform::place_of(plan.grid, shape, at / pixels / sources), points);
          const Point& to = points[at % pixels];
          EXPECT_LT(worst, 4e-4) << "element " << at / pixels % sources << ", pixel " << to.x.value << " " << to.y.value << " "
                                 << to.z.value << " m: device " << windows[at / pixels].base + delays[at] * unit << ", host "
                                 << tables.windows[at / pixels].base + tables.delays[at] * unit << " samples";
          // Rays that graze the surface's end, or meet a corner, may be found by one of both alone.
          EXPECT_LE(others, entries * pixels / part.agree);
        };
        compare(host.transmit, rays->transmit());
        if (host.order != beamform::PairOrder::once) compare(host.receive, rays->receive());
      }
    }
  }
#endif
}

/// From a source through a cylinder about an axis along y, whose crown lies at the origin, to a point: by golden sections over
/// the angle, and over the way along y for each of them.
[[maybe_unused]] double least_time(const Point& from, const Point& to, double radius, double before, double after) {
  const brute::Place source{from.x.value, from.z.value, from.y.value};
  const brute::Place point{to.x.value, to.z.value, to.y.value};
  const auto crown = [=](long double u) {
    const long double angle = std::numbers::pi_v<long double> * (u - 0.5L);
    return brute::Place{radius * std::sin(angle), radius * (1.0L - std::cos(angle)), 0.0L};
  };
  return static_cast<double>(brute::through_with_y(source, point, crown, before, after, 100).time);
}

TEST(RayTiles, OfAVolumeBelowACylinderAreOfLeastTime) {
  ECHOFORM_REQUIRE_GPU();
#ifdef ECHOFORM_WITH_CUDA
  const auto backend = make_cuda_backend();
  const ImagingPlan plan = plan_of(immersed({"[surface]", "cylinder", {{"radius", 40e-3}}, {}}), "LL", true);
  const BeamformOptions options = options_of(plan, MatrixKind::half);
  // Delays of whole 65536ths of a sample, of which nothing is searched on the host.
  const beamform::TilePlanRequest request{options, false, std::size_t{227} << 10, beamform::TileKind::gather};
  const auto rays = beamform::make_ray_tiles(request, *backend);
  ASSERT_NE(rays, nullptr);
  rays->build();
  const beamform::TileShape shape = shape_of(rays->plan().kind);
  const std::size_t pixels = std::size_t{shape.x} * shape.z;
  const std::size_t sources = plan.acquisition.elements();
  const std::size_t entries = rays->plan().tiles() * sources;
  const auto windows = fetch(rays->transmit().windows, entries);
  const auto delays = fetch(rays->transmit().delays, entries * pixels);
  const auto weights = fetch(rays->transmit().weights, entries * pixels);
  const double unit = std::ldexp(1.0, static_cast<int>(shape.index_bits) - 32);
  std::mt19937 random(5);
  std::vector<Point> points;
  int compared = 0;
  while (compared < 120) {
    const std::size_t entry = random() % entries;
    const std::size_t place = random() % pixels;
    tile_points(plan.grid, shape, beamform::place_of(plan.grid, shape, entry / sources), points);
    const Point& to = points[place];
    // Well within the part, where there is a ray to every place.
    if (std::hypot(to.x.value, to.z.value - 40e-3) > 39.9e-3) continue;
    ASSERT_TRUE(weights.empty() || weights[entry * pixels + place] == 1.0F);
    const double delay = windows[entry].base + delays[entry * pixels + place] * unit;
    const double time = (delay - beamform::delay_offset(request)) / plan.acquisition.sample_rate.value;
    const double expected = least_time(plan.acquisition.probe.elements[entry % sources].centre, to, 40e-3, 1480.0, 6320.0);
    // A delay lacks less than a unit, 65536ths of 20 ns.
    EXPECT_NEAR(time, expected, unit / plan.acquisition.sample_rate.value + 1e-13) << entry << ", " << place;
    ++compared;
  }
#endif
}

}  // namespace
}  // namespace echoform
