// The lookups of a beamformer in the form that the CUDA kernels process: each source of one range with each source of
// another. This file does not need CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acquisition/pair_rows.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

/// Sources of one leg that follow each other.
struct SourceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] friend constexpr bool operator==(const SourceRange&, const SourceRange&) = default;
};

/// The lookups of one launch. `order` gives the order of rows, counted within the ranges.
struct LookupBlock {
  SourceRange outer;  ///< sources of the transmit leg, or where `reversed` of the receive leg
  SourceRange inner;  ///< of the other leg; equal to `outer` except under PairOrder::ordered_full and PairOrder::listed
  std::size_t row = 0;
  PairOrder order = PairOrder::ordered_full;
  float once_weight = 1.0F;  ///< TileLaunch::once_weight
  bool reversed = false;

  [[nodiscard]] friend constexpr bool operator==(const LookupBlock&, const LookupBlock&) = default;
};

/// The blocks, one or two, in the order of summation. Where the rows are those of some pairs, none of which is also looked
/// up with its directions exchanged, there is one block of all sources under PairOrder::listed. `alike`:
/// BeamformOptions::alike_both_ways(). Throws InputError where the kernels have no loop for these rows.
[[nodiscard]] std::vector<LookupBlock> lookup_blocks(const PairRows& pairs, bool alike);

/// The groups of `pairs` x `pairs` sources that contain some lookup. Groups of the same sources of the transmit leg follow
/// each other.
struct ListedLookups {
  std::vector<std::uint32_t> groups;  ///< as in ListedPairs
  std::vector<std::uint32_t> rows;

  [[nodiscard]] std::size_t count() const { return groups.size() / 2; }
};
/// The groups of `rows`, none of which may be reversed. Throws InputError for a pair that has two rows.
[[nodiscard]] ListedLookups list_lookups(const PairRows& rows, std::uint32_t pairs);
/// Maximum number of groups, for any choice of as many rows.
[[nodiscard]] std::size_t most_listed_groups(const PairRows& rows, std::uint32_t pairs);

/// Whether `blocks` is one block with all lookups of all sources of both legs.
[[nodiscard]] bool whole(const std::vector<LookupBlock>& blocks, const PairRows& pairs);

/// One side of a launch that takes only the sources of `range` from the tables of `side`. Tiles of the tables have `pixels`.
[[nodiscard]] TileSide part_of(const TileSide& side, const SourceRange& range, std::size_t pixels);

}  // namespace echoform::beamform
