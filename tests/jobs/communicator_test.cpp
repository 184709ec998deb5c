#include "jobs/communicator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/jobs/threads_communicator.hpp"

namespace echoform {
namespace {

std::vector<int> answers(const std::vector<std::uint64_t>& numbers) {
  std::vector<int> found(numbers.size());
  test::Threads(numbers.size()).run([&](Communicator& one) { found[one.rank()] = one.all_differ(numbers[one.rank()]) ? 1 : 0; });
  return found;
}

TEST(Communicator, KnowsOnEveryRankWhetherAllNumbersDiffer) {
  EXPECT_EQ(answers({7}), std::vector<int>{1});
  EXPECT_EQ(answers({7, 8, 0}), std::vector<int>(3, 1));
  EXPECT_EQ(answers({7, 8, 7}), std::vector<int>(3, 0));
  constexpr std::uint64_t greatest = std::uint64_t{1} << 53;
  EXPECT_EQ(answers({greatest, greatest - 1}), std::vector<int>(2, 1));
}

TEST(Communicator, SharesRowsOutEvenly) {
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const RowRange rows = rows_of_rank(10, rank, 4);
    EXPECT_EQ(rows.first, next);
    EXPECT_EQ(rows.count, rank < 2 ? 3U : 2U);
    next += rows.count;
  }
  EXPECT_EQ(next, 10U);
}

}  // namespace
}  // namespace echoform
