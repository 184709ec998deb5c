// Lines that viewers draw over an image.
#include "methods/tfm/outlines.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "methods/tfm/build_plan.hpp"
#include "settings/reader.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<Outline> outlines_of(const std::string& text) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(5, Metres(1e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 2000;
  acquisition.sample_rate = Hertz(50e6);
  const Material aluminium{MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  return build_plan(parse_configuration("[grid]\nx = [-0.004, 0.004]\nz = [0.002, 0.02]\npixels = [5, 7]\n" + text, "part.toml"),
                    acquisition, aluminium)
      ->outlines;
}

std::vector<std::string> names(const std::vector<Outline>& outlines) {
  std::vector<std::string> list;
  for (const Outline& outline : outlines) list.push_back(outline.name);
  return list;
}

TEST(Outlines, ContactHasTheProbe) {
  const auto outlines = outlines_of("");
  ASSERT_THAT(names(outlines), ElementsAre("probe"));
  EXPECT_THAT(outlines[0].x, Pointwise(FloatNear(1e-7F), {-0.002F, -0.001F, 0.0F, 0.001F, 0.002F}));
  EXPECT_THAT(outlines[0].z, ElementsAre(0.0F, 0.0F, 0.0F, 0.0F, 0.0F));
}

TEST(Outlines, PlanesAreTwoPointsAQuarterBesideTheImage) {
  const auto outlines = outlines_of(
      "[couplant]\nvelocity = 1480\n[probe]\nstand_off = 0.02\n[imaging]\ndelay_law = \"immersion\"\nviews = [\"LL\", \"LL-L\"]\n"
      "[backwall]\nkind = \"plane\"\nz = 0.025\nangle = 45.0\n");
  ASSERT_THAT(names(outlines), ElementsAre("probe", "surface", "backwall"));
  EXPECT_THAT(outlines[0].z, ::testing::Each(FloatNear(-0.02F, 1e-7F)));
  EXPECT_THAT(outlines[1].x, Pointwise(FloatNear(1e-7F), {-0.006F, 0.006F}));
  EXPECT_THAT(outlines[1].z, Pointwise(FloatNear(1e-7F), {0.0F, 0.0F}));
  // Deeper along x by one in one.
  EXPECT_THAT(outlines[2].x, Pointwise(FloatNear(1e-7F), {-0.006F, 0.006F}));
  EXPECT_THAT(outlines[2].z, Pointwise(FloatNear(1e-7F), {0.019F, 0.031F}));
}

TEST(Outlines, ACylinderIsOnItsCircle) {
  const auto outlines = outlines_of(
      "[couplant]\nvelocity = 1480\n[probe]\nstand_off = 0.02\n[imaging]\ndelay_law = \"immersion\"\n"
      "[surface]\nkind = \"cylinder\"\nradius = 0.05\n");
  ASSERT_THAT(names(outlines), ElementsAre("probe", "surface"));
  const Outline& surface = outlines[1];
  ASSERT_EQ(surface.x.size(), surface.z.size());
  ASSERT_LE(surface.x.size(), most_outline_points);
  EXPECT_NEAR(surface.x.front(), -0.006, 1e-7);
  EXPECT_NEAR(surface.x.back(), 0.006, 1e-7);
  for (std::size_t k = 0; k < surface.x.size(); ++k) {
    EXPECT_NEAR(std::hypot(surface.x[k], surface.z[k] - 0.05), 0.05, 0.05 * 1e-3) << k;
  }
}

TEST(Outlines, OfManyElementsSomeAreTaken) {
  ImagingPlan plan;
  plan.grid = {{Metres(-0.004), Metres(0.004), 5}, {Metres(0.002), Metres(0.02), 7}, {}};
  plan.acquisition.probe = make_linear_probe(600, Metres(1e-5), Metres(1e-5), Hertz(5e6), Hertz(3e6));
  const auto outlines = make_outlines(plan, {}, plan.grid);
  ASSERT_EQ(outlines[0].x.size(), most_outline_points);
  EXPECT_NEAR(outlines[0].x.front(), -299.5e-5, 1e-7);
  EXPECT_NEAR(outlines[0].x.back(), 299.5e-5, 1e-7);
}

}  // namespace
}  // namespace echoform
