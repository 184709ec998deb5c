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
  PairRows turned = all_pairs(3, 4);
  std::swap(turned.lookups[0], turned.lookups[1]);
  PairRows shifted = summed_pairs(4);
  shifted.lookups[2].row += 1;
  PairRows one_way = pairs_both_ways(4);
  one_way.lookups.pop_back();
  PairRows halves = summed_pairs(4);
  halves.summed = false;
  for (const PairRows& pairs : {turned, shifted, one_way, halves, PairRows{2, 2, 4, false, {}}}) {
    EXPECT_THAT([&] { static_cast<void>(lookup_blocks(pairs, true)); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("rows in an order of their own")));
  }
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
