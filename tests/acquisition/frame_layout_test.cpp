// The layout of frames against plain counting, and what validate() says of events.
#include "acquisition/frame_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using testing::HasSubstr;

Acquisition small(std::size_t elements, MatrixKind matrix = MatrixKind::full) {
  Acquisition a;
  a.probe = make_linear_probe(elements, Metres(1e-3), Metres(0.9e-3), Hertz(5e6), Hertz(3e6));
  a.matrix = matrix;
  a.encoding = SampleEncoding::packed12;
  a.samples = 7;
  a.sample_rate = Hertz(50e6);
  return a;
}

Acquisition sparse(std::size_t elements, const std::vector<std::uint32_t>& fire) {
  Acquisition a = small(elements);
  a.events = element_events(fire);
  return a;
}

/// What holds of every layout.
void expect_consistent(const Acquisition& a, const std::vector<EventReceiver>& expected) {
  const FrameLayout layout(a);
  EXPECT_EQ(layout.pairs(), expected);
  EXPECT_EQ(layout.rows(), expected.size());
  EXPECT_EQ(layout.rows(), a.a_scans());
  EXPECT_EQ(layout.frame_bytes(), a.frame_bytes());
  EXPECT_EQ(layout.bytes_per_row(), 11U);  // 7 samples of 12 bits
  std::size_t row = 0;
  std::size_t longest = 0;
  for (std::size_t event = 0; event < layout.events(); ++event) {
    const RowRange rows = layout.shot(event);
    EXPECT_EQ(rows.first, row);
    EXPECT_EQ(layout.shot_bytes(event), (ByteRange{11 * rows.first, 11 * rows.count}));
    longest = std::max(longest, 11 * rows.count);
    for (; row < rows.first + rows.count; ++row) EXPECT_EQ(expected[row].event, event);
  }
  EXPECT_EQ(row, layout.rows());
  EXPECT_EQ(layout.longest_shot_bytes(), longest);
  std::set<std::size_t> found;
  for (std::size_t event = 0; event < layout.events() + 1; ++event) {
    for (std::size_t receiver = 0; receiver < a.elements() + 1; ++receiver) {
      const auto place = layout.row_of(event, receiver);
      if (!place) continue;
      EXPECT_EQ(expected[*place].event, event);
      EXPECT_EQ(expected[*place].receiver, receiver);
      found.insert(*place);
    }
  }
  EXPECT_EQ(found.size(), expected.size());
}

TEST(FrameLayout, AFullMatrixHasARowForEachOrderedPair) {
  std::vector<EventReceiver> pairs;
  for (std::uint32_t i = 0; i < 5; ++i) {
    for (std::uint32_t j = 0; j < 5; ++j) pairs.push_back({i, j});
  }
  expect_consistent(small(5), pairs);
}

TEST(FrameLayout, AHalfMatrixHasEachPairOnce) {
  std::vector<EventReceiver> pairs;
  for (std::uint32_t i = 0; i < 5; ++i) {
    for (std::uint32_t j = i; j < 5; ++j) pairs.push_back({i, j});
  }
  expect_consistent(small(5, MatrixKind::half), pairs);
  expect_consistent(small(5, MatrixKind::half_summed), pairs);
}

TEST(FrameLayout, SparseEventsHaveARowForEachReceiverInTheirOwnOrder) {
  const Acquisition a = sparse(4, {3, 0});
  std::vector<EventReceiver> pairs;
  for (std::uint32_t event = 0; event < 2; ++event) {
    for (std::uint32_t j = 0; j < 4; ++j) pairs.push_back({event, j});
  }
  expect_consistent(a, pairs);
  EXPECT_EQ(firing_element(a, 0), 3U);
  EXPECT_EQ(firing_element(a, 1), 0U);
}

TEST(FrameLayout, ReceiversOfAnEventHaveTheirRowsInTheirOrder) {
  Acquisition a = sparse(4, {2, 1, 0});
  a.events[0].receivers = {3, 1};
  a.events[2].receivers = {2};
  expect_consistent(a, {{0, 3}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 2}});
}

TEST(FrameLayout, ShotsOfDeadElementsAreNotExpected) {
  Acquisition a = sparse(4, {3, 0, 1});
  a.probe.elements[0].dead = true;
  const FrameLayout layout(a);
  EXPECT_TRUE(layout.expected(0));
  EXPECT_FALSE(layout.expected(1));
  EXPECT_TRUE(layout.expected(2));
  EXPECT_EQ(layout.expected_shots(), 2U);
  Acquisition full = small(4);
  full.probe.elements[2].dead = true;
  EXPECT_FALSE(FrameLayout(full).expected(2));
  EXPECT_EQ(FrameLayout(full).expected_shots(), 3U);
}

TEST(FrameLayout, TheLargestFrameThatIsAllowedIsCountedExactly) {
  Acquisition a = small(1024);
  a.samples = 512;
  validate(a, {}, "test");
  const FrameLayout layout(a);
  EXPECT_EQ(layout.rows(), 1024U * 1024U);
  EXPECT_EQ(layout.row_of(1023, 1023), 1024U * 1024U - 1U);
}

TEST(FrameLayout, LayoutsAreEqualWhereTheirRowsAre) {
  EXPECT_EQ(FrameLayout(small(4)), FrameLayout(small(4)));
  EXPECT_NE(FrameLayout(small(4)), FrameLayout(small(4, MatrixKind::half)));
  EXPECT_NE(FrameLayout(small(4)), FrameLayout(sparse(4, {0, 1, 2})));
  // Whether sums stand in its rows is nothing to a layout.
  EXPECT_EQ(FrameLayout(small(4, MatrixKind::half)), FrameLayout(small(4, MatrixKind::half_summed)));
}

std::string refusal(const Acquisition& a, const AcquisitionLimits& limits = {}) {
  return test::input_error([&] { validate(a, limits, "Hello"); });
}

TEST(ValidateEvents, GoodOnesPass) {
  EXPECT_EQ(refusal(sparse(4, {3})), "");
  EXPECT_EQ(refusal(sparse(4, {3, 1, 2, 0})), "");
  Acquisition a = sparse(4, {3});
  a.events[0].receivers = {2, 0};
  EXPECT_EQ(refusal(a), "");
}

TEST(ValidateEvents, ContradictionsAreSaidInOneLine) {
  EXPECT_EQ(refusal(sparse(4, {1, 4})), "Hello event 1: found element 4; expected elements 0 to 3");
  EXPECT_EQ(refusal(sparse(4, {1, 2, 1})), "Hello event 2: found element 1 again; expected each element in one event");
  EXPECT_EQ(refusal(sparse(4, {0, 1, 2, 3, 0})), "Hello event 4: found element 0 again; expected each element in one event");
  Acquisition a = sparse(4, {1, 2});
  a.matrix = MatrixKind::half;
  EXPECT_EQ(refusal(a), "Hello events: found events and a half matrix; expected one of both");
  a = sparse(4, {1, 2});
  a.events[1].receivers = {0, 7};
  EXPECT_EQ(refusal(a), "Hello event 1: found receiver 7; expected elements 0 to 3");
  a.events[1].receivers = {0, 3, 0};
  EXPECT_EQ(refusal(a), "Hello event 1: found receiver 0 again; expected each receiver once");
}

TEST(ValidateEvents, FramesBeyondTheLimitAreRefusedByTheirRows) {
  AcquisitionLimits limits;
  limits.frame_bytes = 4 * 3 * 11;  // three events of four receivers
  EXPECT_EQ(refusal(sparse(4, {0, 1, 2}), limits), "");
  EXPECT_THAT(refusal(sparse(4, {0, 1, 2, 3}), limits), HasSubstr("16 A-scans of 11 bytes"));
}

}  // namespace
}  // namespace echoform
