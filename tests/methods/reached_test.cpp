// Shares of pixels that no ray reaches.
#include "methods/tfm/reached.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace echoform {
namespace {

/// Source k reaches the pixels with x from `from` + k on.
class HalfBlindLeg final : public Leg {
 public:
  HalfBlindLeg(std::size_t sources, double from, bool to_the_left = false)
      : sources_(sources), from_(from), sign_(to_the_left ? -1.0 : 1.0) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const bool reached = sign_ * pixels[k].x.value >= from_ + static_cast<double>(source);
      seconds[k] = reached ? 1e-6 : std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::size_t sources_;
  double from_;
  double sign_;
};

ImagingPlan plan_of_three_views() {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(3, Metres(1e-3), Metres(), Hertz(), Hertz());
  plan.grid = {{Metres(0.0), Metres(7.0), 8}, {Metres(0.0), Metres(1.0), 2}, {Metres(), Metres(), 1}};
  const auto right = std::make_shared<HalfBlindLeg>(3, 2.0);
  const auto left = std::make_shared<HalfBlindLeg>(3, -5.0, true);
  const auto all = std::make_shared<HalfBlindLeg>(3, 0.0);
  plan.laws = {{"right", right, right}, {"both", right, left}, {"all", all, all}};
  return plan;
}

TEST(Reached, NeedsBothSidesAndLivingElements) {
  ImagingPlan plan = plan_of_three_views();
  const auto share = [&](std::size_t view) {
    return unreached_share(reached_pixels(plan.laws[view], plan.acquisition, plan.grid));
  };
  EXPECT_THAT(reached_pixels(plan.laws[1], plan.acquisition, plan.grid),
              testing::ElementsAre(0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0));
  EXPECT_EQ(share(0), 0.25);
  EXPECT_EQ(share(1), 0.5);
  EXPECT_EQ(share(2), 0.0);
  plan.acquisition.probe.elements[0].dead = true;
  EXPECT_EQ(share(0), 0.375);
}

TEST(Reached, IsOfElementsThatFireOnTheWayOutAndOfThoseThatRecordOnTheWayBack) {
  ImagingPlan plan = plan_of_three_views();
  const auto reached = [&](std::size_t view) { return reached_pixels(plan.laws[view], plan.acquisition, plan.grid); };
  // "right" is one leg both ways: on the way out its last source alone, from x = 4 on, on the way back all, from 2 on.
  plan.acquisition.events = element_events(std::vector<std::uint32_t>{2});
  EXPECT_THAT(reached(0), testing::ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(reached(1), testing::ElementsAre(0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0));
  EXPECT_TRUE(reaches_any_pixel(plan.laws[0], plan.acquisition, plan.grid));
  // And the other way round: the receiver that reaches less decides.
  plan.acquisition.events = element_events(std::vector<std::uint32_t>{0});
  plan.acquisition.events[0].receivers = {1};
  EXPECT_THAT(reached(0), testing::ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1));
  plan.acquisition.probe.elements[1].dead = true;
  EXPECT_EQ(unreached_share(reached(0)), 1.0);
  EXPECT_FALSE(reaches_any_pixel(plan.laws[0], plan.acquisition, plan.grid));
}

TEST(Reached, WarnsOfViewsThatLackAQuarter) {
  const ImagingPlan plan = plan_of_three_views();
  EXPECT_EQ(unreached_warning(plan, {0.25, 0.5, 0.0}).value(),
            "no ray reaches 25 % of the pixels of right, 50 % of the pixels of both: they stay dark, whatever is there");
  EXPECT_FALSE(unreached_warning(plan, {0.24, 0.1, 0.0}));
}

}  // namespace
}  // namespace echoform
