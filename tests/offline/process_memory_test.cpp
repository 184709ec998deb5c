// What of the memory that a process holds is a GPU driver's, and what its own.
#include "offline/process_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace echoform {
namespace {

TEST(MemoryShares, AllIsTheProgramsOwnWhereNothingWasLoaded) {
  const MemoryShares shares;
  EXPECT_EQ(shares.driver(), 0.0);
  EXPECT_EQ(shares.own({50.0, 70.0}).now, 50.0);
  EXPECT_EQ(shares.own({50.0, 70.0}).most, 70.0);
}

TEST(MemoryShares, WhatLoadingTakesBeyondTheProgramsOwnIsTheDrivers) {
  MemoryShares shares;
  shares.loaded({30.0, 35.0}, {140.0, 150.0});  // a context: 110
  EXPECT_EQ(shares.driver(), 110.0);
  // 12 of the program's own are taken, and 20 while kernels are loaded, of which 6 are its own.
  shares.loaded({152.0, 160.0}, {172.0, 180.0}, 6.0);
  EXPECT_EQ(shares.driver(), 124.0);
  EXPECT_EQ(shares.own({172.0, 172.0}).now, 48.0);   // 30 + 12 + 6
  EXPECT_EQ(shares.own({172.0, 172.0}).most, 50.0);  // 160 - 110: before kernels were loaded
  EXPECT_EQ(shares.own({180.0, 190.0}).now, 56.0);
  EXPECT_EQ(shares.own({180.0, 190.0}).most, 66.0);
}

TEST(MemoryShares, WhatWasHeldAtMostBeforeIsNotForgotten) {
  MemoryShares shares;
  shares.loaded({30.0, 80.0}, {100.0, 100.0});
  EXPECT_EQ(shares.own({100.0, 100.0}).most, 80.0);
  shares.loaded({100.0, 100.0}, {110.0, 110.0});
  EXPECT_EQ(shares.own({110.0, 120.0}).most, 80.0);
}

TEST(MemoryShares, TheDriversShareIsNeverLess) {
  MemoryShares shares;
  shares.loaded({100.0, 100.0}, {90.0, 100.0});
  EXPECT_EQ(shares.driver(), 0.0);
  shares.loaded({90.0, 100.0}, {100.0, 100.0}, 25.0);  // less than was stated
  EXPECT_EQ(shares.driver(), 0.0);
  EXPECT_EQ(shares.own({100.0, 100.0}).now, 100.0);
  shares.loaded({100.0, 100.0}, {160.0, 160.0});
  EXPECT_EQ(shares.own({40.0, 160.0}).now, 0.0);  // the driver gave some back
}

TEST(HeldMemory, GrowsByWhatIsTakenAndIsForgottenAtMostWhenGivenBack) {
  constexpr std::size_t taken = 64 << 20;
  const HeldMemory before = held_memory();
  EXPECT_GT(before.now, 1e6);
  EXPECT_GE(before.most, before.now);
  {
    const std::vector<char> bytes(taken, 1);
    const HeldMemory there = held_memory();
    // A sanitizer's allocator may keep what it is given back, and pages are counted in batches.
    EXPECT_GT(there.now, before.now + 0.9 * taken);
    EXPECT_GE(there.most, there.now);
    EXPECT_EQ(bytes.back(), 1);
  }
  const HeldMemory freed = held_memory();
  EXPECT_GE(freed.most, before.now + 0.9 * taken);
  forget_most_held();
  // Where all of it is kept, looking adds the pages of the look.
  EXPECT_LE(held_memory().most, freed.most + 1e6);
  EXPECT_GE(held_memory().most, held_memory().now - 1e6);
}

}  // namespace
}  // namespace echoform
