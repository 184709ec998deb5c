// Blocks of lookups: what launches go through is what the rows say, each lookup once.
#include "stages/beamform/lookup_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/pair_groups.hpp"
#include "base/errors.hpp"
#include "stages/beamform/tile_plan.hpp"

namespace echoform::beamform {
namespace {

/// Source of the transmit leg, of the receive leg, row, weight.
using Lookup = std::tuple<std::size_t, std::size_t, std::size_t, float>;

std::vector<Lookup> lookups_of(const PairRows& pairs) {
  std::vector<Lookup> lookups;
  for (const PairRun& run : pairs.lookups) {
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const std::size_t other = run.receiver + k;
      lookups.emplace_back(run.reversed ? other : run.event, run.reversed ? run.event : other, run.row + k, 1.0F);
    }
  }
  std::ranges::sort(lookups);
  return lookups;
}

/// As the kernels go through a block: rows as their formulas have them.
std::vector<Lookup> lookups_of(const std::vector<LookupBlock>& blocks) {
  std::vector<Lookup> lookups;
  for (const LookupBlock& block : blocks) {
    const std::size_t n = block.outer.count;
    const bool once = block.order == PairOrder::once;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = once ? i : 0; j < block.inner.count; ++j) {
        const std::size_t low = std::min(i, j);
        const std::size_t row =
            block.order == PairOrder::ordered_full ? i * block.inner.count + j : low * n - low * (low + 1) / 2 + std::max(i, j);
        const std::size_t outer = block.outer.first + i;
        const std::size_t inner = block.inner.first + j;
        lookups.emplace_back(block.reversed ? inner : outer, block.reversed ? outer : inner, block.row + row,
                             once && i != j ? block.once_weight : 1.0F);
      }
    }
  }
  std::ranges::sort(lookups);
  return lookups;
}

Acquisition full_frames(std::size_t elements, MatrixKind matrix) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(elements);
  acquisition.matrix = matrix;
  acquisition.samples = 4;
  return acquisition;
}

TEST(LookupBlocks, AreTheLookupsOfEveryGroup) {
  for (const std::size_t elements : {1U, 7U, 16U, 17U, 35U, 48U, 100U}) {
    for (const MatrixKind matrix : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
      for (const bool reciprocal : {false, true}) {
        const PairGroups groups(full_frames(elements, matrix), reciprocal);
        for (std::size_t group = 0; group < groups.count(); ++group) {
          const PairRows pairs = groups.at(group).pairs;
          const auto blocks = lookup_blocks(pairs, false);
          EXPECT_EQ(lookups_of(blocks), lookups_of(pairs)) << elements << " elements, group " << group;
          EXPECT_EQ(whole(blocks, pairs), groups.count() == 1);
          EXPECT_EQ(order_of(pairs, reciprocal).parted, groups.count() > 1);
        }
      }
    }
  }
}

TEST(LookupBlocks, OfWholeFramesAreOne) {
  for (const std::size_t n : {1U, 2U, 9U}) {
    for (const PairRows& pairs : {all_pairs(n, n), all_pairs(n, n + 3), summed_pairs(n), pairs_both_ways(n)}) {
      const auto blocks = lookup_blocks(pairs, false);
      EXPECT_EQ(lookups_of(blocks), lookups_of(pairs));
      EXPECT_TRUE(whole(blocks, pairs));
    }
  }
  // One direction for both, where they are alike.
  EXPECT_THAT(lookup_blocks(pairs_both_ways(5), true),
              testing::ElementsAre(LookupBlock{{0, 5}, {0, 5}, 0, PairOrder::once, 2.0F, false}));
}

TEST(LookupBlocks, AreRefusedWhereNoLoopGoesThroughThem) {
  PairRows one_way = pairs_both_ways(4);
  one_way.lookups.pop_back();
  for (const PairRows& pairs : {one_way, PairRows{2, 2, 4, false, {}}}) {
    EXPECT_THAT([&] { static_cast<void>(lookup_blocks(pairs, true)); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("rows in an order of their own")));
  }
}

/// As the kernels go through listed groups.
std::vector<Lookup> lookups_of(const ListedLookups& listed, std::uint32_t pairs) {
  std::vector<Lookup> lookups;
  for (std::size_t group = 0; group < listed.count(); ++group) {
    for (std::uint32_t i = 0; i < pairs; ++i) {
      for (std::uint32_t j = 0; j < pairs; ++j) {
        const std::uint32_t row = listed.rows[(group * pairs + i) * pairs + j];
        if (row == no_listed_row) continue;
        lookups.emplace_back(listed.groups[2 * group] * pairs + i, listed.groups[2 * group + 1] * pairs + j, row, 1.0F);
      }
    }
  }
  std::ranges::sort(lookups);
  return lookups;
}

TEST(LookupBlocks, ListPairsInAnyOrder) {
  PairRows turned = all_pairs(3, 4);
  std::swap(turned.lookups[0], turned.lookups[1]);
  PairRows shifted = summed_pairs(4);
  shifted.lookups[2].row += 1;
  shifted.rows += 1;
  PairRows halves = summed_pairs(4);
  halves.summed = false;
  PairRows pulse_echo{37, 37, 0, false, {}};
  for (std::uint32_t k = 0; k < 37; ++k) add_lookup(pulse_echo.lookups, k, k, pulse_echo.rows++);
  PairRows walking{20, 31, 0, true, {}};
  for (std::uint32_t k = 0; k < 20; ++k) {
    for (const std::uint32_t step : {0U, 1U, 9U}) add_lookup(walking.lookups, k, k + step, walking.rows++);
  }
  for (const PairRows& pairs : {turned, shifted, halves, pulse_echo, walking}) {
    for (const bool alike : {false, true}) {
      const auto blocks = lookup_blocks(pairs, alike);
      ASSERT_EQ(blocks.size(), 1U);
      EXPECT_EQ(blocks.front().order, PairOrder::listed);
      EXPECT_TRUE(whole(blocks, pairs));
      EXPECT_FALSE(order_of(pairs, alike).parted);
      EXPECT_EQ(order_of(pairs, alike).one_side, alike);
    }
    for (const std::uint32_t of_group : {4U, 8U}) {
      const ListedLookups listed = list_lookups(pairs, of_group);
      EXPECT_EQ(lookups_of(listed, of_group), lookups_of(pairs));
      EXPECT_LE(listed.count(), most_listed_groups(pairs, of_group));
      // Those of a group of transmitters follow each other, so that their delays are kept.
      for (std::size_t k = 1; k < listed.count(); ++k) EXPECT_LE(listed.groups[2 * k - 2], listed.groups[2 * k]);
    }
  }
  EXPECT_EQ(list_lookups(pulse_echo, 8).count(), 5U) << "of 25 groups of 8 x 8";
  PairRows twice = pulse_echo;
  twice.lookups.push_back({3, 3, 1, 0, false});
  EXPECT_THAT([&] { static_cast<void>(list_lookups(twice, 8)); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("two rows of event 3 and receiver 3")));
}

TEST(LookupBlocks, TakeTheirPartOfTables) {
  const std::vector<SourceWindow> windows(40);
  const std::vector<std::uint32_t> delays(400);
  TileSide side;
  side.windows = windows.data();
  side.delays = delays.data();
  side.tabled = 8;
  const TileSide part = part_of(side, {3, 2}, 10);
  EXPECT_EQ(part.windows, windows.data() + 3);
  EXPECT_EQ(part.delays, delays.data() + 30);
  EXPECT_EQ(part.weights, nullptr);
  EXPECT_EQ(part.forms, nullptr);
  EXPECT_EQ(part.tabled, 8U);
}

}  // namespace
}  // namespace echoform::beamform
