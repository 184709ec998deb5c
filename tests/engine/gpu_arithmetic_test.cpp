// What the CUDA engine reckons on the host: which rows to copy when, and what fits into a device's memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "delay_laws/delay_law.hpp"
#include "engines/arrival_map.hpp"
#include "engines/device_need.hpp"

namespace echoform {
namespace {

TEST(ArrivalMap, WaitsForNeighboursAndCopiesRunsOnce) {
  ArrivalMap map(100, 30);
  EXPECT_EQ(map.arrive(0, 10).rows, 0U);
  EXPECT_EQ(map.arrive(20, 10).rows, 0U) << "rows 10 to 19 are missing";
  const RowRun run = map.arrive(10, 10);
  EXPECT_EQ(run.first, 0U);
  EXPECT_EQ(run.rows, 30U);
  EXPECT_EQ(map.arrive(90, 10).rows, 0U);
  EXPECT_EQ(map.arrive(30, 10).rows, 0U) << "what was copied before does not count";
  const RowRun rest = map.take_rest();
  EXPECT_EQ(rest.first, 30U);
  EXPECT_EQ(rest.rows, 70U) << "arrived or not";
  EXPECT_EQ(map.take_rest().rows, 0U);
}

TEST(ArrivalMap, BeginsAnewWithEveryFrame) {
  ArrivalMap map(10, 4);
  EXPECT_EQ(map.arrive(0, 10).rows, 10U);
  map.clear();
  EXPECT_EQ(map.take_rest().rows, 10U);
  EXPECT_EQ(map.take_rest().rows, 0U);
  map.clear();
  EXPECT_EQ(map.arrive(2, 5).rows, 5U);
  EXPECT_EQ(map.take_rest().rows, 2U);
  EXPECT_EQ(map.take_rest().first, 7U);
}

TEST(ArrivalMap, CopiesEveryRowExactlyOnceInAnyOrder) {
  constexpr std::size_t shots = 64;
  constexpr std::size_t rows = 7;
  std::mt19937 random(1);
  ArrivalMap map(shots * rows, 40);
  for (int frame = 0; frame < 50; ++frame) {
    std::vector<std::size_t> order(shots);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int> copied(shots * rows, 0);
    std::vector<bool> arrived(shots * rows, false);
    const auto copy = [&](const RowRun& run) {
      for (std::size_t row = run.first; row < run.first + run.rows; ++row) {
        ++copied[row];
        EXPECT_TRUE(arrived[row]);
      }
    };
    map.clear();
    for (const std::size_t shot : order) {
      std::fill_n(arrived.begin() + static_cast<std::ptrdiff_t>(shot * rows), rows, true);
      const RowRun run = map.arrive(shot * rows, rows);
      EXPECT_TRUE(run.rows == 0 || run.rows >= 40);
      copy(run);
    }
    for (RowRun run = map.take_rest(); run.rows != 0; run = map.take_rest()) copy(run);
    EXPECT_TRUE(std::all_of(copied.begin(), copied.end(), [](int times) { return times == 1; }));
  }
}

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
