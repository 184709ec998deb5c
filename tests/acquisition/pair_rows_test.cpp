// Which rows a beamformer is given, and of which A-scans they are made, against counting by hand.
#include "acquisition/pair_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"

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
  try {
    validate(pairs, "test");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "test pairs: found event 1 with 3 receivers from 1 on, in rows from 3 on; expected 2 events, 3 receivers and 6 rows");
  }
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

}  // namespace
}  // namespace echoform
