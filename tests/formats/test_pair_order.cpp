#include <gmock/gmock.h>

#include "formats/pair_order.hpp"
#include "tests/formats/scratch.hpp"

namespace echoform::formats {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PairOrder order(const Pairs& pairs, std::size_t elements) {
  std::vector<std::size_t> tx, rx;
  for (const auto& [i, j] : pairs) {
    tx.push_back(i);
    rx.push_back(j);
  }
  return order_pairs(tx, rx, elements, "a list");
}

TEST(PairOrder, FullMatrixInAnyOrder) {
  const auto found = order({{1, 1}, {0, 1}, {1, 0}, {0, 0}}, 2);
  EXPECT_EQ(found.matrix, MatrixKind::full);
  EXPECT_THAT(found.source, ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(found.note(), "");
}

TEST(PairOrder, UpperAndLowerTrianglesAreHalfMatrices) {
  const auto upper = order({{1, 1}, {0, 1}, {0, 0}}, 2);
  EXPECT_EQ(upper.matrix, MatrixKind::half);
  EXPECT_THAT(upper.source, ElementsAre(2, 1, 0));
  EXPECT_EQ(upper.note(), "");
  const auto lower = order({{0, 0}, {1, 0}, {1, 1}}, 2);
  EXPECT_EQ(lower.matrix, MatrixKind::half);
  EXPECT_THAT(lower.source, ElementsAre(0, 1, 2));
  EXPECT_THAT(lower.note(), HasSubstr("1 pairs stored as (j, i)"));
}

TEST(PairOrder, MixOfOrdersWithoutBothOfAnyPairIsHalf) {
  const auto found = order({{0, 0}, {1, 0}, {1, 1}, {0, 2}, {1, 2}}, 3);
  EXPECT_EQ(found.matrix, MatrixKind::half);
  EXPECT_THAT(found.source, ElementsAre(0, 1, 3, 2, 4, PairOrder::none));
  EXPECT_THAT(found.note(), HasSubstr("1 missing pairs count as zero"));
}

TEST(PairOrder, BothOrdersOfSomePairMakeAnIncompleteFullMatrix) {
  const auto found = order({{0, 1}, {1, 0}, {1, 1}}, 2);
  EXPECT_EQ(found.matrix, MatrixKind::full);
  EXPECT_THAT(found.source, ElementsAre(PairOrder::none, 0, 1, 2));
  EXPECT_THAT(found.note(), HasSubstr("read as full"));
  EXPECT_THAT(found.note(), HasSubstr("1 missing"));
}

TEST(PairOrder, AllReceiversOfSomeTransmittersAreEventsInTheirOrder) {
  const auto found = order({{2, 1}, {0, 0}, {2, 0}, {0, 2}, {2, 2}, {0, 1}}, 3);
  EXPECT_EQ(found.events, element_events(std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(found.matrix, MatrixKind::full);
  EXPECT_THAT(found.source, ElementsAre(2, 0, 4, 1, 5, 3));
  EXPECT_EQ(found.missing, 0U);
  // One pair short, it is what it was: a matrix with zeros.
  EXPECT_TRUE(order({{2, 1}, {0, 0}, {2, 0}, {0, 2}, {2, 2}}, 3).events.empty());
}

TEST(PairOrder, OneElementIsFull) {
  EXPECT_EQ(order({{0, 0}}, 1).matrix, MatrixKind::full);
}

TEST(PairOrder, RefusesDuplicatesStrangersAndNothing) {
  EXPECT_EQ(test::input_error([] {
              static_cast<void>(order({{0, 1}, {0, 0}, {0, 1}}, 2));
            }),
            "a list: found pair (1, 2) twice, as A-scans 1 and 3; expected each pair once");
  EXPECT_EQ(test::input_error([] {
              static_cast<void>(order({{0, 0}, {0, 2}}, 2));
            }),
            "a list: found A-scan 2 receives with element 3; expected elements 1 to 2");
  EXPECT_THAT(test::input_error([] { static_cast<void>(order({}, 2)); }), HasSubstr("no A-scans"));
}

}  // namespace
}  // namespace echoform::formats
