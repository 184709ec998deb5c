// What the device does for each ray through a curve that casts shadows, done on the host: against the host's field.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rays/ray_field.hpp"
#include "stages/beamform/ray_turn_math.hpp"
#include "stages/beamform/shaded_rays.hpp"
#include "tests/rays/shading_fronts.hpp"

namespace echoform::ray_shadow_test {
namespace {

/// As the kernel: slopes in single precision, from `origin` on; the turns of one ray, or all of them anew.
double time_to(const rays::CurveForm& form, const rays::ShadedCurve& curve, std::size_t source, Vector2 point, Vector2 origin,
               std::size_t& shadows) {
  const rays::CrossingEnds ends{form.sources[source], point, form.before, form.after};
  const auto x = static_cast<float>(point.x - origin.x);
  const auto z = static_cast<float>(point.z - origin.z);
  const auto slope_at = [&](std::uint32_t n) {
    const rays::CurveNode& node = form.nodes[n];
    return form.slopes[source * curve.count + n] + rays::node_slope<float>(form.point_slowness, node.tangent_x, node.tangent_z,
                                                                           static_cast<float>(node.at.x - origin.x) - x,
                                                                           static_cast<float>(node.at.z - origin.z) - z);
  };
  const auto turns = [&](const auto& take) {
    float before = 1.0F;
    for (std::uint32_t n = 0; n < curve.count; ++n) {
      const float slope = slope_at(n);
      if (before < 0.0F && !(slope < 0.0F) && form.nodes[n - 1].joined != 0)
        take(n - 1, static_cast<double>(before / (before - slope)));
      before = slope;
    }
  };
  const auto less = [&](std::uint32_t own, double start, double least) {
    const rays::FoundCrossing found = rays::ray_over(curve, ends, own, start);
    if (rays::is_quicker(found, least) && rays::in_shadow(curve, ends, own, found.t)) ++shadows;
    return rays::less_over(curve, ends, own, start, least);
  };
  beamform::KeptTurns kept;
  turns([&](std::uint32_t own, double) { kept.add(own + 1); });
  if (rays::near_some(curve, point) || kept.nodes == beamform::KeptTurns::too_many)
    return rays::less_near(curve, ends, rays::less_elsewhere(curve, point, turns, std::nan(""), less), less);
  double least = std::nan("");
  for (std::uint32_t node = kept.take(); node != 0; node = kept.take()) {
    const float before = slope_at(node - 1);
    least = less(node - 1, static_cast<double>(before / (before - slope_at(node))), least);
  }
  return least;
}

struct Counts {
  std::size_t rays = 0;
  std::size_t lost = 0;     ///< points in the part without a ray
  std::size_t shadows = 0;  ///< rays over turns that lie in shadow
  std::size_t near = 0;     ///< rays to points near to the surface
  std::size_t others = 0;   ///< rays that one of both has alone
  double worst = 0.0;       ///< s
};

/// Of all points of a grid on the side of the surface that the path leads to.
Counts compare(const RayPath& path, const std::vector<Point>& sources, double width, double low, double high) {
  constexpr int columns = 81;
  constexpr int rows = 67;
  const Surface& surface = *path.interfaces.front().surface;
  const double side = path.interfaces.front().reflects ? -1.0 : 1.0;
  std::vector<Point> points;
  for (int z = 0; z < rows; ++z) {
    for (int x = 0; x < columns; ++x) {
      const Vector2 at{width * (x / (columns - 1.0) - 0.5) + 1.3e-6, low + (high - low) * z / (rows - 1.0)};
      if (side * surface.signed_distance(at) > 1e-9) points.push_back({Metres(at.x), Metres(0.0), Metres(at.z)});
    }
  }
  const auto field = make_ray_field(path, sources);
  const auto form = field->form();
  EXPECT_TRUE(form && form->curve && form->curve->shades);
  const rays::CurveForm& curve_form = *form->curve;
  const rays::ShadedCurve curve = beamform::shaded_curve(curve_form, curve_form.nodes.data(), curve_form.pieces.data(),
                                                         curve_form.shades->pieces.data(), curve_form.shades->groups.data());
  std::vector<double> seconds(sources.size() * points.size());
  field->times(0, sources.size(), points, seconds);
  Counts counts;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      const Vector2 at{points[k].x.value, points[k].z.value};
      // A tile of the kernel lies around the point, with its origin up to so far away.
      const Vector2 origin{at.x - 1.1e-3 * static_cast<double>(k % 7), at.z - 0.9e-3 * static_cast<double>(k % 5)};
      const double found = time_to(curve_form, curve, source, at, origin, counts.shadows);
      const double expected = seconds[source * points.size() + k];
      if (std::isnan(found) != std::isnan(expected)) {
        ++counts.others;
      } else if (std::isnan(found)) {
        ++counts.lost;
      } else {
        ++counts.rays;
        counts.near += rays::near_some(curve, at) ? 1 : 0;
        counts.worst = std::max(counts.worst, std::abs(found - expected));
      }
    }
  }
  return counts;
}

/// Both find the same rays in double precision, good to 1e-14 s from whatever start. Single precision says on which piece to
/// begin: of rays that meet a corner within a nanometre one of both may find none.
void expect_alike(const Counts& counts) {
  EXPECT_GT(counts.near, 0U);
  EXPECT_LE(counts.others, (counts.rays + counts.lost) / 5000);
  EXPECT_LT(counts.worst, 1e-14);
}

TEST(RayShadows, OfTheFormAreTheFields) {
  const std::vector<Point> above{{Metres(-8e-3), Metres(0.0), Metres(-14e-3)},
                                 {Metres(0.4e-3), Metres(0.0), Metres(-15e-3)},
                                 {Metres(11e-3), Metres(0.0), Metres(-9e-3)}};
  std::size_t shadows = 0;
  for (const shading::Front& front : shading::fronts()) {
    for (const double velocity : {6320.0, 3130.0}) {
      SCOPED_TRACE(fmt::format("{} {}", front.name, velocity));
      const RayPath path{{MetresPerSecond(1480.0), MetresPerSecond(velocity)}, {{front.surface, false, false}}};
      const Counts counts = compare(path, above, 36e-3, -3e-3, 22e-3);
      const std::size_t all = counts.rays + counts.lost + counts.others;
      RecordProperty(fmt::format("{}_{}", front.name, velocity),
                     fmt::format("{} rays, {} near, {} points without, {} shadows, {} others, {:.1e} s", counts.rays, counts.near,
                                 counts.lost, counts.shadows, counts.others, counts.worst));
      EXPECT_GT(counts.rays, all / 4);
      EXPECT_GT(counts.lost, 0U);
      expect_alike(counts);
      shadows += counts.shadows;
    }
  }
  EXPECT_GT(shadows, 1000U) << "a test of too few shadows";
}

TEST(RayShadows, OffABackwallAreTheFields) {
  const std::vector<Point> above{{Metres(-8e-3), Metres(0.0), Metres(0.0)}, {Metres(3e-3), Metres(0.0), Metres(0.0)}};
  for (const shading::Front& front : shading::fronts(20e-3)) {
    SCOPED_TRACE(front.name);
    const RayPath path{{MetresPerSecond(6320.0), MetresPerSecond(3130.0)}, {{front.surface, true, false}}};
    const Counts counts = compare(path, above, 36e-3, 1e-3, 23e-3);
    EXPECT_GT(counts.rays, 2000U);
    expect_alike(counts);
  }
}

}  // namespace
}  // namespace echoform::ray_shadow_test
