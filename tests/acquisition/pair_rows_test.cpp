// Which rows a beamformer is given, and of which A-scans they are made, against counting by hand.
#include "acquisition/pair_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

Acquisition acquisition_of(std::size_t elements, MatrixKind matrix) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(elements);
  acquisition.matrix = matrix;
  return acquisition;
}

/// How often each ordered pair (transmit, receive) is looked up, and in which row.
std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> looked_up(const PairRows& pairs) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> found;
  for (const PairRun& run : pairs.lookups) {
    for (std::size_t k = 0; k < run.count; ++k) {
      const std::size_t other = run.receiver + k;
      const auto pair = run.reversed ? std::pair{other, std::size_t{run.event}} : std::pair{std::size_t{run.event}, other};
      found[pair].push_back(run.row + k);
    }
  }
  return found;
}

TEST(PairRows, LookUpEveryPairInItsRow) {
  for (const std::size_t n : {1, 2, 5}) {
    const auto all = looked_up(all_pairs(n + 1, n));
    EXPECT_EQ(all.size(), (n + 1) * n);
    std::size_t row = 0;
    for (std::size_t event = 0; event <= n; ++event) {
      for (std::size_t receiver = 0; receiver < n; ++receiver) {
        EXPECT_THAT(all.at({event, receiver}), testing::ElementsAre(row++));
      }
    }
    EXPECT_EQ(all_pairs(n + 1, n).rows, row);

    const auto once = looked_up(summed_pairs(n));
    const auto both = looked_up(pairs_both_ways(n));
    row = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j, ++row) {
        EXPECT_THAT(once.at({i, j}), testing::ElementsAre(row));
        EXPECT_THAT(both.at({i, j}), testing::ElementsAre(row));
        EXPECT_THAT(both.at({j, i}), testing::ElementsAre(row));
      }
    }
    EXPECT_EQ(once.size(), row);
    EXPECT_EQ(both.size(), n * n);
    EXPECT_EQ(summed_pairs(n).rows, row);
    EXPECT_EQ(pairs_both_ways(n).rows, row);
    for (const PairRows& pairs : {all_pairs(n + 1, n), summed_pairs(n), pairs_both_ways(n)})
      EXPECT_NO_THROW(validate(pairs, "test"));
  }
}

TEST(PairRows, LookupsBeyondTheCountsAreRefused) {
  PairRows pairs = all_pairs(2, 3);
  pairs.lookups[1].receiver = 1;
  EXPECT_EQ(test::input_error([&] { validate(pairs, "test"); }),
            "test pairs: found event 1 with 3 receivers from 1 on, in rows from 3 on; expected 2 events, 3 receivers and 6 rows");
}

TEST(PairRows, CombineAddsBothDirectionsWhereNothingTellsThemApart) {
  const CombinedPairs full = combine_pairs(acquisition_of(3, MatrixKind::full), true);
  EXPECT_EQ(full.pairs, summed_pairs(3));
  // Rows of the frame are 3 * i + j.
  EXPECT_THAT(full.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 3, 1.0F}, PairSource{2, 6, 1.0F},
                                                 PairSource{4, 4, 1.0F}, PairSource{5, 7, 1.0F}, PairSource{8, 8, 1.0F}));
  const CombinedPairs half = combine_pairs(acquisition_of(2, MatrixKind::half), true);
  EXPECT_EQ(half.pairs, summed_pairs(2));
  EXPECT_THAT(half.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 1, 2.0F}, PairSource{2, 2, 1.0F}));
  const CombinedPairs summed = combine_pairs(acquisition_of(2, MatrixKind::half_summed), true);
  EXPECT_THAT(summed.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 1, 1.0F}, PairSource{2, 2, 1.0F}));
}

TEST(PairRows, CombineKeepsDirectionsThatLawsOrWeightsTellApart) {
  const CombinedPairs full = combine_pairs(acquisition_of(2, MatrixKind::full), false);
  EXPECT_EQ(full.pairs, all_pairs(2, 2));
  EXPECT_THAT(full.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 1, 1.0F}, PairSource{2, 2, 1.0F},
                                                 PairSource{3, 3, 1.0F}));
  const CombinedPairs half = combine_pairs(acquisition_of(2, MatrixKind::half), false);
  EXPECT_EQ(half.pairs, pairs_both_ways(2));
  EXPECT_THAT(half.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 1, 1.0F}, PairSource{2, 2, 1.0F}));
  const CombinedPairs summed = combine_pairs(acquisition_of(2, MatrixKind::half_summed), false);
  EXPECT_EQ(summed.pairs, pairs_both_ways(2));
  EXPECT_THAT(summed.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{1, 1, 0.5F}, PairSource{2, 2, 1.0F}));
}

TEST(PairRows, CombineAddsWhatSparseFiringsReceivedOfBothDirections) {
  // Elements 3, 0 and 2 of 4 fire in this order, so that 10 sums take fewer lookups than 12 pairs; rows are 4 * event + receiver.
  // Of (1, 1) nothing is received.
  Acquisition acquisition = acquisition_of(4, MatrixKind::full);
  acquisition.events = element_events(std::vector<std::uint32_t>{3, 0, 2});
  CombinedPairs sparse = combine_pairs(acquisition, true);
  EXPECT_EQ(sparse.pairs, summed_pairs(4));
  EXPECT_EQ(sparse.pairs, combined_rows(acquisition, true));
  EXPECT_THAT(sparse.sources,
              testing::ElementsAre(PairSource{4, 4, 1.0F}, PairSource{5, 5, 1.0F}, PairSource{6, 8, 1.0F}, PairSource{7, 0, 1.0F},
                                   PairSource{}, PairSource{9, 9, 1.0F}, PairSource{1, 1, 1.0F}, PairSource{10, 10, 1.0F},
                                   PairSource{11, 2, 1.0F}, PairSource{3, 3, 1.0F}));
  acquisition.probe.elements[0].dead = true;
  sparse = combine_pairs(acquisition, true);
  for (const std::size_t row : {0U, 1U, 2U, 3U}) EXPECT_EQ(sparse.sources[row], PairSource{}) << row;
  EXPECT_EQ(sparse.sources[8], (PairSource{11, 2, 1.0F}));

  acquisition.events = element_events(std::vector<std::uint32_t>{3, 0});
  EXPECT_EQ(combined_rows(acquisition, true), all_pairs(2, 4)) << "8 pairs, which are fewer than 10 sums";
  acquisition.events = element_events(std::vector<std::uint32_t>{3, 0, 1, 2});
  EXPECT_EQ(combined_rows(acquisition, true), summed_pairs(4)) << "all elements, in another order";
  EXPECT_EQ(combined_rows(acquisition, false), all_pairs(4, 4));
}

TEST(PairRows, PairsThatAreDeadOrMissingAreZeros) {
  Acquisition acquisition = acquisition_of(3, MatrixKind::full);
  acquisition.events = element_events(std::vector<std::uint32_t>{2, 0});
  acquisition.events[1].receivers = {2, 0};  // in this order
  acquisition.probe.elements[1].dead = true;
  const CombinedPairs sparse = combine_pairs(acquisition, false);
  EXPECT_EQ(sparse.pairs, all_pairs(2, 3));
  EXPECT_THAT(sparse.sources, testing::ElementsAre(PairSource{0, 0, 1.0F}, PairSource{}, PairSource{2, 2, 1.0F},
                                                   PairSource{4, 4, 1.0F}, PairSource{}, PairSource{3, 3, 1.0F}));
  acquisition.probe.elements[2].dead = true;
  const CombinedPairs dead = combine_pairs(acquisition, false);
  EXPECT_THAT(dead.sources,
              testing::ElementsAre(PairSource{}, PairSource{}, PairSource{}, PairSource{4, 4, 1.0F}, PairSource{}, PairSource{}))
      << "the element of the first event fires no more";
}

/// Each element fires alone, in their order, and those of `steps` from it on record it, the last of them first.
Acquisition walking(std::size_t elements, const std::vector<std::uint32_t>& steps) {
  Acquisition acquisition = acquisition_of(elements, MatrixKind::full);
  for (std::uint32_t element = 0; element < elements; ++element) {
    TransmitEvent& event = acquisition.events.emplace_back();
    event.form = ElementEvent{element};
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (element + *step < elements) event.receivers.push_back(element + *step);
    }
  }
  return acquisition;
}

TEST(PairRows, OfPulseEchoAreAsManyAsElements) {
  const Acquisition acquisition = walking(300, {0});
  for (const bool reciprocal : {false, true}) {
    const CombinedPairs combined = combine_pairs(acquisition, reciprocal);
    EXPECT_EQ(combined.pairs.rows, 300U) << "45,150 or 90,000 would be zeros but for these";
    EXPECT_EQ(combined.pairs.events, 300U);
    EXPECT_EQ(combined.pairs.receivers, 300U);
    ASSERT_EQ(combined.pairs.lookups.size(), 300U);
    for (std::uint32_t k = 0; k < 300; ++k) {
      EXPECT_EQ(combined.pairs.lookups[k], (PairRun{k, k, 1, k, false}));
      EXPECT_EQ(combined.sources[k], (PairSource{k, k, 1.0F}));
    }
  }
  const std::vector<std::uint32_t> chosen{7, 250};
  const CombinedPairs some = combine_pairs(acquisition, true, chosen);
  EXPECT_THAT(some.pairs.lookups, testing::ElementsAre(PairRun{0, 7, 1, 0, false}, PairRun{1, 250, 1, 1, false}));
  EXPECT_THAT(some.sources, testing::ElementsAre(PairSource{7, 7, 1.0F}, PairSource{250, 250, 1.0F}));
}

TEST(PairRows, OfWalkingAperturesAreThoseThatWereReceived) {
  Acquisition acquisition = walking(12, {0, 1, 3});
  acquisition.probe.elements[5].dead = true;
  const FrameLayout layout(acquisition);
  const CombinedPairs combined = combine_pairs(acquisition, false);
  EXPECT_EQ(combined.pairs, received_pairs(acquisition));
  EXPECT_EQ(combined.pairs.rows, layout.rows());
  validate(combined.pairs, "walking");
  const auto looked_up_in = looked_up(combined.pairs);
  for (std::size_t event = 0; event < 12; ++event) {
    for (std::size_t receiver = 0; receiver < 12; ++receiver) {
      const auto found = looked_up_in.find({event, receiver});
      const auto row = layout.row_of(event, receiver);
      ASSERT_EQ(found != looked_up_in.end(), row.has_value()) << event << ", " << receiver;
      if (!row) continue;
      ASSERT_EQ(found->second.size(), 1U);
      const PairSource living{*row, *row, 1.0F};
      EXPECT_EQ(combined.sources[found->second.front()], event == 5 || receiver == 5 ? PairSource{} : living);
    }
  }
}

TEST(PairRows, OfReciprocalWalkingAperturesAreSumsOfWhatWasReceived) {
  // Neighbours hear each other: of (i, i + 1) both directions are there, of (i, i + 3) one.
  Acquisition acquisition = walking(12, {0, 1, 3});
  for (std::uint32_t element = 1; element < 12; ++element) acquisition.events[element].receivers.push_back(element - 1);
  const FrameLayout layout(acquisition);
  const CombinedPairs combined = combine_pairs(acquisition, true);
  EXPECT_TRUE(combined.pairs.summed);
  EXPECT_EQ(combined.pairs.rows, 12U + 11U + 9U);
  std::size_t rows = 0;
  for (const PairRun& run : combined.pairs.lookups) {
    for (std::uint32_t k = 0; k < run.count; ++k, ++rows) {
      const std::uint32_t other = run.receiver + k;
      EXPECT_LE(run.event, other);
      const auto forward = layout.row_of(run.event, other);
      const auto backward = layout.row_of(other, run.event);
      const PairSource& source = combined.sources[run.row + k];
      EXPECT_EQ(source, (PairSource{forward ? *forward : *backward, backward ? *backward : *forward, 1.0F}));
    }
  }
  EXPECT_EQ(rows, combined.pairs.rows);
}

TEST(PairRows, AreOfEveryPairWhereMoreThanHalfWereReceived) {
  EXPECT_FALSE(few_are_received(walking(4, {0, 1, 2})));  // 9 of 16
  EXPECT_EQ(combined_rows(walking(4, {0, 1, 2}), false), all_pairs(4, 4));
  EXPECT_TRUE(few_are_received(walking(4, {0, 1})));  // 7 of 16
  EXPECT_TRUE(few_are_received(walking(4, {0, 1, 2}), std::vector<std::uint32_t>{2, 3}));
  // All of the receivers, in an order of their own.
  Acquisition turned = acquisition_of(3, MatrixKind::full);
  turned.events = element_events(std::vector<std::uint32_t>{2, 0});
  for (TransmitEvent& event : turned.events) event.receivers = {2, 0, 1};
  EXPECT_EQ(combined_rows(turned, false), all_pairs(2, 3));
  // Rows of a code are decoded from whole frames.
  Acquisition rows = acquisition_of(4, MatrixKind::full);
  rows.events = hadamard_events(4);
  for (TransmitEvent& event : rows.events) event.receivers = {1};
  EXPECT_EQ(combined_rows(rows, false), all_pairs(4, 4));
}

}  // namespace
}  // namespace echoform
