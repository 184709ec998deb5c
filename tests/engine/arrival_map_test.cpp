// Which rows to copy when.
#include "engines/arrival_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

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

}  // namespace
}  // namespace echoform
