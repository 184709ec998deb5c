// What the device does for each ray through a curve that is drawn out along an axis, done on the host: against the host's field,
// which begins every ray anew.
#include "stages/beamform/ray_across_math.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rays/ray_field.hpp"
#include "rays/surface_kind.hpp"

namespace echoform::ray_across_test {
namespace {

RayPath through(const MadeSurface& made, double c1, double c2) {
  RayPath path{{MetresPerSecond(c1), MetresPerSecond(c2)}, {{made.curve, false, false}}};
  path.interfaces.front().spatial = made.spatial;
  return path;
}

struct Walked {
  std::vector<double> times;  ///< asked_time() where the host has to tell
  std::size_t asked = 0;
  std::size_t restarts = 0;  ///< rays that did not begin with the one before
};

/// Rays to points that follow each other along a line, each begun with that before, as in the kernel.
Walked walk(const rays::CurveForm& form, std::size_t source, const std::vector<Point>& points) {
  const beamform::AcrossCurve curve{static_cast<std::uint32_t>(form.nodes.size()),
                                    form.nodes.data(),
                                    form.pieces.data(),
                                    form.reaches.data(),
                                    form.before,
                                    form.after,
                                    form.sides};
  Walked walked;
  beamform::AcrossRay kept{};
  std::uint32_t node = 0;  // 0: nothing is kept
  for (const Point& point : points) {
    const Vector3 own = form.axes.into(vector_of(point));
    const beamform::AcrossEnds ends{form.sources[source], {own.x, own.z}, own.y - form.across[source]};
    if (node != 0) {
      const beamform::AcrossRay ray = beamform::across_ray(curve, node, ends, kept.t, kept.part);
      if (ray.sure) {
        kept = ray;
        walked.times.push_back(ray.time);
        continue;
      }
      node = 0;
    }
    ++walked.restarts;
    beamform::AcrossTurns turns;
    double before = 1.0;
    for (std::size_t n = 0; n < form.nodes.size(); ++n) {
      const rays::CurveNode& at = form.nodes[n];
      const double slope =
          static_cast<double>(form.slopes[source * form.nodes.size() + n]) +
          rays::node_slope<double>(form.point_slowness, at.tangent_x, at.tangent_z, at.at.x - own.x, at.at.z - own.z);
      if (before < 0.0 && !(slope < 0.0) && form.nodes[n - 1].joined != 0)
        turns.add(curve, static_cast<std::uint32_t>(n), ends, static_cast<float>(before / (before - slope)));
      before = slope;
    }
    double time = std::nan("");
    if (turns.count > 0) time = turns.sure ? turns.least.time : beamform::asked_time();
    if (turns.count == 1 && turns.sure) {
      node = turns.node;
      kept = turns.least;
    }
    walked.asked += beamform::is_asked(time) ? 1 : 0;
    walked.times.push_back(time);
  }
  return walked;
}

TEST(RayAcross, AskedTimesAreNoNumbersOfTheirOwn) {
  EXPECT_TRUE(std::isnan(beamform::asked_time()));
  EXPECT_TRUE(beamform::is_asked(beamform::asked_time()));
  EXPECT_FALSE(beamform::is_asked(std::nan("")));
  EXPECT_FALSE(beamform::is_asked(1e-6));
}

/// A parabola of many cubic pieces, which no straight line meets three times.
MadeSurface arch() {
  const auto at = [](int n) { return Vector2{1e-3 * n, 5.0 * 1e-6 * n * n}; };
  const auto slope = [](int n) { return Vector2{1e-3, 10.0 * 1e-6 * n}; };
  std::vector<Segment> segments;
  for (int k = -30; k < 30; ++k) segments.push_back(cubic_segment(at(k), slope(k), at(k + 1), slope(k + 1)));
  return {std::make_shared<const Surface>("arch", std::move(segments)), nullptr};
}

MadeSurface cylinder(std::map<std::string, double, std::less<>> numbers,
                     std::map<std::string, std::string, std::less<>> words = {}) {
  return make_any_surface({"[surface]", "cylinder", std::move(numbers), std::move(words)});
}

struct Case {
  std::string name;
  MadeSurface made;
  double c1, c2;
};

TEST(RayAcross, BegunWithTheNeighboursAreTheFieldsRays) {
  const std::vector<Case> cases{{"rod", cylinder({{"radius", 40e-3}}), 1480.0, 6320.0},
                                {"rod, transversal", cylinder({{"radius", 40e-3}}), 1480.0, 3130.0},
                                {"thin rod", cylinder({{"radius", 9e-3}}), 1480.0, 6320.0},
                                {"bore", cylinder({{"radius", 30e-3}}, {{"side", "inside"}}), 1480.0, 6320.0},
                                {"turned", cylinder({{"radius", 40e-3}, {"turn", 30.0}, {"dip", 8.0}}), 1480.0, 6320.0},
                                {"arch", arch(), 1480.0, 6320.0}};
  std::vector<Point> sources;
  for (const double x : {-2e-3, 0.0, 2e-3}) {
    for (const double y : {-2e-3, 1e-3}) sources.push_back({Metres(x), Metres(y), Metres(-15e-3)});
  }
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const MadeSurface& made = test.made;
    const auto field = make_ray_field(through(made, test.c1, test.c2), sources);
    const auto inside = [&](const Point& point) {
      return made.curve ? made.curve->signed_distance({point.x.value, point.z.value}) > 1e-9
                        : made.spatial->signed_distance(vector_of(point)) > 1e-9;
    };
    const auto form = field->form();
    ASSERT_TRUE(form && form->curve);
    std::size_t rays = 0, points_inside = 0, asked = 0, restarts = 0;
    for (int x = -8; x <= 8; ++x) {
      for (int z = 0; z < 12; ++z) {
        std::vector<Point> points;
        for (int y = 0; y < 61; ++y) {
          const Point point{Metres(1.2e-3 * x), Metres(-9e-3 + 0.3e-3 * y), Metres(1e-3 + 2e-3 * z)};
          if (inside(point)) points.push_back(point);
        }
        points_inside += points.size() * sources.size();
        std::vector<double> seconds(sources.size() * points.size());
        field->times(0, sources.size(), points, seconds);
        for (std::size_t source = 0; source < sources.size(); ++source) {
          const Walked walked = walk(*form->curve, source, points);
          asked += walked.asked;
          restarts += walked.restarts;
          for (std::size_t k = 0; k < points.size(); ++k) {
            if (beamform::is_asked(walked.times[k])) continue;
            const double expected = seconds[source * points.size() + k];
            ASSERT_EQ(std::isnan(walked.times[k]), std::isnan(expected)) << source << ", " << x << " " << k << " " << z;
            if (std::isnan(expected)) continue;
            ++rays;
            // Both lack the third power of what their last steps were.
            ASSERT_NEAR(walked.times[k], expected, 1e-15) << source << ", " << x << " " << k << " " << z;
          }
        }
      }
    }
    // All but those that touch the surface's end, or pass a caustic, are told without the host, and from their neighbours: one in
    // 61 begins a line.
    EXPECT_GT(rays, points_inside / 2);
    EXPECT_LE(asked, points_inside / 200);
    EXPECT_LE(restarts, points_inside / 20);
    RecordProperty(test.name, fmt::format("{} rays to {} points, {} asked, {} begun anew", rays, points_inside, asked, restarts));
  }
}

}  // namespace
}  // namespace echoform::ray_across_test
