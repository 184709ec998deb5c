// Frames in groups: every received A-scan counts as often as it does in the whole frame, in the directions for which it stands,
// against counting by hand.
#include "acquisition/pair_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform {
namespace {

using Direction2 = std::pair<std::size_t, std::size_t>;  // source of the transmit leg, element that records

Acquisition frames_of(std::size_t elements, MatrixKind matrix, const std::vector<std::size_t>& dead = {}) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(elements);
  for (const std::size_t element : dead) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = matrix;
  acquisition.samples = 4;
  return acquisition;
}

/// Weight of each row of the frame, by the direction in which it is looked up; where `added`, both are one.
std::map<std::pair<std::size_t, Direction2>, float> weights_of(const PairGroups& groups, bool added) {
  std::map<std::pair<std::size_t, Direction2>, float> weights;
  for (std::size_t k = 0; k < groups.count(); ++k) {
    const PairGroup group = groups.at(k);
    std::vector<std::size_t> rows;
    for (const RowRange& range : group.rows) {
      EXPECT_TRUE(rows.empty() || rows.back() + 1 < range.first) << "ranges ascend and lie apart";
      for (std::size_t row = 0; row < range.count; ++row) rows.push_back(range.first + row);
    }
    EXPECT_LE(rows.size(), groups.most_a_scans());
    EXPECT_EQ(group.sources.size(), group.pairs.rows);
    EXPECT_EQ(group.pairs.summed, added);
    validate(group.pairs, "a group's");
    for (const PairRun& run : group.pairs.lookups) {
      for (std::size_t n = 0; n < run.count; ++n) {
        const std::size_t other = run.receiver + n;
        Direction2 direction = run.reversed ? Direction2{other, run.event} : Direction2{run.event, other};
        if (added && direction.first > direction.second) std::swap(direction.first, direction.second);
        const PairSource& source = group.sources[run.row + n];
        if (source.weight == 0.0F) continue;
        weights[{rows.at(source.first), direction}] += source.weight;
        if (source.second != source.first) weights[{rows.at(source.second), direction}] += source.weight;
      }
    }
  }
  return weights;
}

class GroupsOfElements : public testing::TestWithParam<std::tuple<std::size_t, MatrixKind, bool>> {};

TEST_P(GroupsOfElements, CountEveryAScanOnce) {
  const auto [elements, matrix, reciprocal] = GetParam();
  const bool full = matrix == MatrixKind::full;
  const std::size_t dead = elements / 2;
  const Acquisition frames = frames_of(elements, matrix, {dead});
  const PairGroups groups(frames, reciprocal);
  EXPECT_EQ(groups.by_elements(), reciprocal || !full);
  std::map<std::pair<std::size_t, Direction2>, float> expected;
  std::size_t row = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    for (std::size_t j = full ? 0 : i; j < elements; ++j, ++row) {
      if (i == dead || j == dead) continue;
      // What the row is of the amplitude of one direction: it, half of the sum of both.
      const float of_one = matrix == MatrixKind::half_summed && i != j ? 0.5F : 1.0F;
      if (full) {
        expected[{row, reciprocal ? Direction2{std::min(i, j), std::max(i, j)} : Direction2{i, j}}] += of_one;
      } else if (reciprocal) {
        expected[{row, {i, j}}] += i == j ? 1.0F : 2.0F * of_one;
      } else {
        expected[{row, {i, j}}] += of_one;
        if (i != j) expected[{row, {j, i}}] += of_one;
      }
    }
  }
  EXPECT_EQ(weights_of(groups, reciprocal), expected);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GroupsOfElements,
                         testing::Combine(testing::Values(1, 16, 17, 35, 48),
                                          testing::Values(MatrixKind::full, MatrixKind::half, MatrixKind::half_summed),
                                          testing::Bool()));

TEST(GroupsOfEvents, AreThoseThatAreChosenWithWhateverRecordsThem) {
  Acquisition frames = frames_of(40, MatrixKind::full, {7});
  for (std::uint32_t event = 0; event < 37; ++event) {
    TransmitEvent& made = frames.events.emplace_back();
    made.form = ElementEvent{event};
    for (std::uint32_t receiver = 0; receiver < 40 && event % 3 == 1; receiver += 1 + event % 2) {
      made.receivers.push_back((receiver + event) % 40);
    }
  }
  const FrameLayout layout(frames);
  std::vector<std::uint32_t> all(37);
  std::iota(all.begin(), all.end(), 0U);
  for (const auto& chosen : {std::vector<std::uint32_t>{},
                             std::vector<std::uint32_t>{0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 13, 14, 30, 31, 32, 33, 34, 35, 36}}) {
    const PairGroups groups(frames, true, chosen);
    EXPECT_EQ(groups.count(), chosen.empty() ? 3U : 2U);
    EXPECT_FALSE(groups.by_elements());
    std::map<std::pair<std::size_t, Direction2>, float> expected;
    const auto& events = chosen.empty() ? all : chosen;
    for (std::size_t k = 0; k < events.size(); ++k) {
      for (std::size_t receiver = 0; receiver < 40; ++receiver) {
        const auto row = layout.row_of(events[k], receiver);
        if (row && events[k] != 7 && receiver != 7) expected[{*row, {k, receiver}}] = 1.0F;
      }
    }
    EXPECT_EQ(weights_of(groups, false), expected);
  }
}

TEST(GroupsOfEvents, HoldWhatWasReceivedAlone) {
  // Pulse-echo of 300 elements is one group of 300 rows; before, events had 300 rows each, three to a group.
  Acquisition frames = frames_of(300, MatrixKind::full, {11});
  for (std::uint32_t element = 0; element < 300; ++element) frames.events.push_back({ElementEvent{element}, {element}});
  const PairGroups pulse_echo(frames, true);
  EXPECT_EQ(pulse_echo.count(), 1U);
  EXPECT_EQ(pulse_echo.most_a_scans(), 300U);
  EXPECT_EQ(pulse_echo.at(0).pairs.rows, 300U);

  // Eleven receivers an event: 93 events have 1023 pairs.
  const FrameLayout whole(frames);
  for (std::uint32_t element = 0; element < 300; ++element) {
    for (std::uint32_t k = 1; k <= 10; ++k) frames.events[element].receivers.push_back((element + 7 * k) % 300);
  }
  const PairGroups walking(frames, false);
  EXPECT_EQ(walking.count(), 4U);
  EXPECT_EQ(walking.most_a_scans(), 1023U);
  EXPECT_EQ(walking.at(0).pairs.rows, 1023U);
  const FrameLayout layout(frames);
  std::map<std::pair<std::size_t, Direction2>, float> expected;
  for (std::size_t event = 0; event < 300; ++event) {
    for (const std::uint32_t receiver : frames.events[event].receivers) {
      if (event != 11 && receiver != 11) expected[{*layout.row_of(event, receiver), {event, receiver}}] = 1.0F;
    }
  }
  EXPECT_EQ(weights_of(walking, false), expected);
}

TEST(PairGroups, FollowFromTheLayoutAlone) {
  // 128 elements: 8 ranges of 16 make 36 groups; 8 events of 128 receivers are 1024 pairs.
  const Acquisition frames = frames_of(128, MatrixKind::full);
  const PairGroups both_ways(frames, true);
  EXPECT_EQ(both_ways.count(), 36U);
  EXPECT_EQ(both_ways.most_a_scans(), 512U);
  EXPECT_EQ(both_ways.at(1).pairs.rows, 256U);
  const PairGroups one_way(frames, false);
  EXPECT_EQ(one_way.count(), 16U);
  EXPECT_EQ(one_way.most_a_scans(), 1024U);
  EXPECT_THAT(one_way.at(3).rows, testing::ElementsAre(RowRange{3 * 1024, 1024}));
  // 100 elements are 7 ranges of 15, the last shorter.
  EXPECT_EQ(PairGroups(frames_of(100, MatrixKind::half), true).most_a_scans(), 225U);
}

}  // namespace
}  // namespace echoform
