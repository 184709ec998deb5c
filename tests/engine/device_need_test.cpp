// What fits into a device's memory.
#include "engines/device_need.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/tfm/setup.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

TEST(DeviceNeed, SaysWhatWouldFit) {
  DeviceNeed need;
  need.stages = 300;
  need.blocks = 1100;
  need.pixels = 400;
  need.of_slot = 200;
  need.pixels_of_slot = 100;
  need.slots = 4;
  need.columns = 20;
  need.rows = 10;
  EXPECT_EQ(need.bytes(), 2200U);
  EXPECT_EQ(what_would_fit(need, 1850), "2 slots, or 15 x 7 pixels") << "450 of 800 bytes for images: 0.75 of the sides";
  EXPECT_EQ(what_would_fit(need, 1450), "5 x 2 pixels");
  EXPECT_EQ(what_would_fit(need, 1000), "fewer samples or elements");
}

std::shared_ptr<const ImagingSetup> setup_of(const ImagingPlan& plan) {
  return make_imaging_setup(std::make_shared<const ImagingPlan>(plan));
}

TEST(DeviceNeed, CountsTheGateAlone) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(128, Metres(0.65e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  plan.acquisition.samples = 4096;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-37.5e-3), Metres(37.5e-3), 256}, {Metres(1e-3), Metres(75e-3), 256}, {}};
  plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, "LL"}));
  const DeviceNeed whole = device_need(*setup_of(plan), {.slots = 3});
  constexpr std::size_t pixels = std::size_t{256} * 256;
  EXPECT_EQ(whole.of_slot, 128U * 128U * 4096U * 2U + pixels * 5U);
  EXPECT_EQ(whole.pixels_of_slot, pixels * 5U);
  // Rows in single precision, their analytic signal with a margin of at least 256, and the complex image.
  const std::size_t blocks = 8256U * (4096U * 4U + (4096U + 256U) * 8U) + pixels * 8U;
  EXPECT_GE(whole.blocks, blocks);
  EXPECT_LT(static_cast<double>(whole.blocks), 1.01 * static_cast<double>(blocks));
  plan.gate = SampleGate{8, 1024};
  EXPECT_EQ(device_need(*setup_of(plan), {}).of_slot, 128U * 128U * 1024U * 2U + pixels * 5U);
}

TEST(DeviceNeed, ALiveChangeIsRefusedWhereTheDeviceHasNoRoom) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(16, Metres(0.65e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  plan.acquisition.samples = 1024;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-5e-3), Metres(5e-3), 4096}, {Metres(1e-3), Metres(9e-3), 4096}, {}};
  plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, "LL"}));
  const std::size_t needed = device_need(*setup_of(plan), {.slots = 3}).bytes();
  EXPECT_NO_THROW(require_device_room(*setup_of(plan), {.slots = 3}, 0, {needed, needed}));
  const std::string text = test::input_error([&] {
    require_device_room(*setup_of(plan), {.slots = 3}, 1, {needed - 1, 2 * needed});
  });
  EXPECT_EQ(text.find("[grid] pixels: found 4096 x 4096 pixels and 1 view, which need at least 0.4"), 0U) << text;
  EXPECT_NE(text.find(" GB of GPU 1 beside what is in use; expected what fits into the 0.4"), std::string::npos) << text;
  EXPECT_NE(text.find("4095 x 4095 pixels"), std::string::npos) << text;
}

/// A leg of which nobody knows a form.
class PlainLeg final : public Leg {
 public:
  [[nodiscard]] std::size_t sources() const noexcept override { return 128; }
  void travel_times(std::size_t /*source*/, std::span<const Point> /*pixels*/, std::span<double> seconds) const override {
    std::fill(seconds.begin(), seconds.end(), 1e-6);
  }
};

TEST(DeviceNeed, CountsTablesOfDelays) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(128, Metres(0.65e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  plan.acquisition.samples = 1024;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-37.5e-3), Metres(37.5e-3), 256}, {Metres(1e-3), Metres(75e-3), 256}, {}};
  plan.grid.y = {Metres(-37.5e-3), Metres(37.5e-3), 256};
  plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, "LL"}));
  const std::size_t image = plan.grid.pixels() * 8;
  const DeviceNeed analytic = device_need(*setup_of(plan), {});
  // 8 x 16 x 256 tiles and 128 sources of 24 bytes: a form (16) and a window (8).
  EXPECT_EQ(analytic.pixels - image, std::size_t{8} * 16 * 256 * 128 * 24);
  const auto leg = std::make_shared<PlainLeg>();
  plan.laws = {{"plain", leg, leg}};
  const std::size_t windows = std::size_t{8} * 16 * 256 * 128 * 8;
  const DeviceNeed tables = device_need(*setup_of(plan), {});
  EXPECT_EQ(tables.pixels - image, windows + std::size_t{256} * 256 * 256 * 128 * 4) << "8.6 GB";
  EXPECT_GT(tables.bytes(), std::size_t{8'600'000'000});
  plan.apodization.window = ApodizationWindow::hann;
  EXPECT_EQ(device_need(*setup_of(plan), {}).pixels - image, windows + std::size_t{256} * 256 * 256 * 128 * 8)
      << "and their weights";
  plan.laws = {{"plain", leg, std::make_shared<PlainLeg>()}};
  EXPECT_EQ(device_need(*setup_of(plan), {}).pixels - image, 2 * (windows + std::size_t{256} * 256 * 256 * 128 * 8))
      << "on both sides";
  EXPECT_NE(what_would_fit(tables, 4'000'000'000).find(" x "), std::string::npos) << "fewer pixels have smaller tables";
}

}  // namespace
}  // namespace echoform
