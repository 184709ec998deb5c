#include <gmock/gmock.h>

#include "acquisition/firings.hpp"
#include "formats/pair_order.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

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
  // One pair short, one of them has receivers of its own.
  const auto short_of_one = order({{2, 1}, {0, 0}, {2, 0}, {0, 2}, {2, 2}}, 3);
  EXPECT_THAT(short_of_one.events, ElementsAre(TransmitEvent{ElementEvent{2}, {}}, TransmitEvent{ElementEvent{0}, {0, 2}}));
  EXPECT_THAT(short_of_one.source, ElementsAre(2, 0, 4, 1, 3));
}

TEST(PairOrder, PulseEchoIsAnEventAnElement) {
  Pairs pairs;
  for (std::size_t k = 0; k < 300; ++k) pairs.emplace_back(k, k);
  const auto found = order(pairs, 300);
  EXPECT_EQ(found.matrix, MatrixKind::full);
  ASSERT_EQ(found.events.size(), 300U);
  EXPECT_TRUE(is_pulse_echo(found.events));
  EXPECT_EQ(found.source.size(), 300U) << "and no zeros for the 44,850 other pairs of half a matrix";
  EXPECT_EQ(found.missing, 0U);
  EXPECT_EQ(found.note(), "") << "the acquisition says it";
}

TEST(PairOrder, AperturesThatWalkAreEventsInTheOrderOfTheFile) {
  // Each element with the three before it, the farthest first: no pair is there in both orders.
  Pairs pairs;
  for (std::size_t k = 11; k >= 3; --k) {
    for (std::size_t back = 3; back > 0; --back) pairs.emplace_back(k, k - back);
  }
  const auto found = order(pairs, 12);
  ASSERT_EQ(found.events.size(), 9U);
  EXPECT_EQ(found.events[1], (TransmitEvent{ElementEvent{10}, {7, 8, 9}}));
  for (std::size_t k = 0; k < pairs.size(); ++k) EXPECT_EQ(found.source[k], k);
  EXPECT_EQ(found.note(), "events have receivers of their own");
}

TEST(PairOrder, OfAnApertureOfHalfOfTheElementsIsNoHalfMatrix) {
  // Each element with itself and those after it, eight in all: 100 of the 136 pairs of half a matrix of 16.
  Pairs walking;
  Pairs nearly;
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = i; j < 16; ++j) {
      if (j < i + 8) walking.emplace_back(i, j);
      if (i + j != 15) nearly.emplace_back(i, j);
    }
  }
  EXPECT_EQ(order(walking, 16).events.size(), 16U);
  const auto half = order(nearly, 16);
  EXPECT_EQ(half.matrix, MatrixKind::half);
  EXPECT_EQ(half.missing, 8U);
}

TEST(PairOrder, TellsEventsApartThatLookLikeAMatrix) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(4);
  acquisition.samples = 2;
  for (std::uint32_t element = 0; element < 4; ++element) acquisition.events.push_back({ElementEvent{element}, {element}});
  EXPECT_TRUE(pairs_tell_events(acquisition));
  // Those from the own element on: half a matrix, of which each pair would stand for two.
  for (std::uint32_t element = 0; element < 4; ++element) {
    for (std::uint32_t other = element + 1; other < 4; ++other) acquisition.events[element].receivers.push_back(other);
  }
  EXPECT_FALSE(pairs_tell_events(acquisition));
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
