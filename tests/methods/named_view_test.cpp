// A view with a name of its own, as plans and the checks before them take it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "delay_laws/view_kind.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/standing_check.hpp"
#include "settings/reader.hpp"
#include "tests/methods/small_arrays.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;

/// Out and back as T. The letter L in its name is no mode.
constexpr const char* named = "HOLE-1";

void register_named_view() {
  if (find_view_kind(named) != nullptr) return;
  add_view_kind({named, "Shear waves under another name.", [](const DelayLawRequest&, const LegMaker& leg) {
                   return DelayLaw{"", leg("T"), leg("T")};
                 }});
}

const Material only_shear{{}, MetresPerSecond(3130.0)};
const std::string small_grid = "[grid]\nx = [-0.005, 0.005]\nz = [0.002, 0.02]\npixels = [5, 7]\n";

std::shared_ptr<const ImagingPlan> plan_with_views(const std::string& views, const std::string& more = small_grid) {
  register_named_view();
  const Configuration configuration = parse_configuration(more + "[imaging]\nviews = [" + views + "]\n", "part.toml");
  check_without_data(configuration, only_shear);
  return build_plan(configuration, test::frames_of(test::sixteen_elements(), 1024, Hertz(50e6)), only_shear);
}

std::string fault_with_views(const std::string& views, const std::string& more = small_grid) {
  return test::input_error([&] { static_cast<void>(plan_with_views(views, more)); });
}

TEST(NamedView, StandsBesideViewsByModes) {
  const auto plan = plan_with_views("\"HOLE-1\", \"TT\"");
  ASSERT_EQ(plan->laws.size(), 2U);
  EXPECT_EQ(plan->laws[0].view, named);
  EXPECT_EQ(plan->laws[0].transmit, plan->laws[1].transmit) << "one leg of these modes a plan";
  EXPECT_TRUE(plan->laws[0].reciprocal());
}

TEST(NamedView, ItsLettersAreNoModes) {
  EXPECT_EQ(fault_with_views("\"HOLE-1\""), "") << "no velocity of longitudinal waves, and none needed";
  EXPECT_THAT(fault_with_views("\"LT\""), HasSubstr("part.toml: [material] longitudinal_velocity: found no value"));
  register_named_view();
  const Configuration configuration = parse_configuration(small_grid + "[imaging]\nviews = [\"HOLE-1\"]\n", "part.toml");
  EXPECT_EQ(test::input_error([&] {
              check_velocities(configuration, {MetresPerSecond(6320.0), {}});
            }),
            "part.toml: [material] shear_velocity: found none; expected a positive velocity, which the view needs")
      << "it needs the velocity of shear waves, and a server says so when it starts";
}

TEST(NamedView, IsThereOnceAndItsDepthIsTold) {
  EXPECT_EQ(fault_with_views("\"HOLE-1\", \"HOLE-1\""),
            "part.toml: [imaging] views: found \"HOLE-1\" twice; expected each view once");
  EXPECT_EQ(
      fault_with_views("\"HOLE-1\"", "[grid]\nx = [-0.005, 0.005]\n"),
      "part.toml: [grid] z: found no value; expected z = [first, last] in m: with a view that modes do not name, the gate does "
      "not tell the depth");
}

}  // namespace
}  // namespace echoform
