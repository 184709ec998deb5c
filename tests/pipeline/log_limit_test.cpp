#include "base/log_limit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/support/allocation_counter.hpp"

namespace echoform::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LogLimit, OneLineASecondSaysHowManyWereLeftOut) {
  LogLimit limit;
  ManualClock clock;
  EXPECT_EQ(limit.admit(clock.steady()), 0U) << "the first line comes at once";
  for (int k = 0; k < 231; ++k) EXPECT_EQ(limit.admit(clock.steady()), std::nullopt);
  clock.advance(milliseconds(999));
  EXPECT_EQ(limit.admit(clock.steady()), std::nullopt);
  EXPECT_EQ(limit.left_out(), 232U);
  clock.advance(milliseconds(1));
  EXPECT_EQ(limit.admit(clock.steady()), 232U);
  EXPECT_EQ(limit.left_out(), 0U);
  clock.advance(seconds(60));
  EXPECT_EQ(limit.admit(clock.steady()), 0U);
}

TEST(LogLimit, CausesDoNotTakeEachOthersLines) {
  std::array<LogLimit, 2> limits;
  EXPECT_EQ(limits[0].admit(SteadyTime{0}), 0U);
  EXPECT_EQ(limits[1].admit(SteadyTime{0}), 0U);
  EXPECT_EQ(limits[0].admit(SteadyTime{0}), std::nullopt);
}

TEST(LogLimit, TheIntervalIsAsStated) {
  LogLimit limit(milliseconds(20));
  EXPECT_EQ(limit.admit(milliseconds(0)), 0U);
  EXPECT_EQ(limit.admit(milliseconds(19)), std::nullopt);
  EXPECT_EQ(limit.admit(milliseconds(20)), 1U);
}

TEST(LogLimit, TextIsEmptyWhereNothingWasLeftOut) {
  EXPECT_EQ(left_out_text(0), "");
  EXPECT_EQ(left_out_text(231), " (and 231 more since the last such line)");
}

// Each of many calls at once is a line, or in one line's count.
TEST(LogLimit, ThreadsCountExactly) {
  LogLimit limit(SteadyTime{100});
  constexpr std::uint64_t calls = 20'000, threads = 4;
  std::atomic<std::int64_t> time{0};
  std::atomic<std::uint64_t> lines{0}, told{0};
  {
    std::vector<std::jthread> pool;
    for (std::uint64_t t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        for (std::uint64_t k = 0; k < calls; ++k) {
          const auto left_out = limit.admit(SteadyTime(time.fetch_add(1)));
          if (!left_out) continue;
          ++lines;
          told += *left_out;
        }
      });
    }
  }
  EXPECT_EQ(lines + told + limit.left_out(), calls * threads);
  EXPECT_GE(lines, 1U);
  EXPECT_LE(lines, calls * threads / 100 + 1) << "time went from 0 to 79,999 by one a call";
}

TEST(LogLimit, AllocatesNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  LogLimit limit;
  const std::uint64_t before = allocations();
  std::uint64_t lines = 0;
  for (int k = 0; k < 1000; ++k) lines += limit.admit(milliseconds(k)).has_value() ? 1U : 0U;
  EXPECT_EQ(allocations() - before, 0U);
  EXPECT_EQ(lines, 1U);
}

}  // namespace
}  // namespace echoform::test
