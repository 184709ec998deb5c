// What fits into a device's memory.
#include "engines/device_need.hpp"

#include <gtest/gtest.h>

#include "delay_laws/delay_law.hpp"

namespace echoform {
namespace {

TEST(DeviceNeed, SaysWhatWouldFit) {
  DeviceNeed need;
  need.fixed = 1000;
  need.raw_of_slot = 100;
  need.images = 400;
  need.images_of_slot = 100;
  need.slots = 4;
  need.columns = 20;
  need.rows = 10;
  EXPECT_EQ(need.bytes(), 2200U);
  EXPECT_EQ(what_would_fit(need, 1850), "2 slots, or 15 x 7 pixels") << "450 of 800 bytes for images: 0.75 of the sides";
  EXPECT_EQ(what_would_fit(need, 1450), "5 x 2 pixels");
  EXPECT_EQ(what_would_fit(need, 1000), "fewer samples or elements");
}

TEST(DeviceNeed, CountsTheGateAlone) {
  ImagingPlan plan;
  plan.acquisition.probe = make_linear_probe(128, Metres(0.65e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  plan.acquisition.samples = 4096;
  plan.acquisition.sample_rate = Hertz(40e6);
  plan.material = {MetresPerSecond(6300.0), MetresPerSecond(3130.0)};
  plan.grid = {{Metres(-37.5e-3), Metres(37.5e-3), 256}, {Metres(1e-3), Metres(75e-3), 256}, {}};
  plan.laws.push_back(make_delay_law("contact", {plan.acquisition, plan.material, "LL"}));
  const DeviceNeed whole = estimate_device_need(plan, {.slots = 3});
  EXPECT_EQ(whole.raw_of_slot, 128U * 128U * 4096U * 2U);
  EXPECT_EQ(whole.fixed, 8256U * 4096U * 12U);
  EXPECT_EQ(whole.images, 256U * 256U * 8U);
  EXPECT_EQ(whole.images_of_slot, 256U * 256U * 5U);
  plan.gate = SampleGate{8, 1024};
  EXPECT_EQ(estimate_device_need(plan, {}).raw_of_slot, 128U * 128U * 1024U * 2U);
}

}  // namespace
}  // namespace echoform
