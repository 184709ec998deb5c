// The lookups of a beamformer as the CUDA kernels go through them: each source of one range with each of another. No CUDA here.
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

/// What one launch looks up. Rows are in the order of `order`, counted within the ranges.
struct LookupBlock {
  SourceRange outer;  ///< sources of the transmit leg, or where `reversed` of the receive leg
  SourceRange inner;  ///< of the other leg; as `outer`, but under PairOrder::ordered_full and PairOrder::listed
  std::size_t row = 0;
  PairOrder order = PairOrder::ordered_full;
  float once_weight = 1.0F;  ///< TileLaunch::once_weight
  bool reversed = false;

  [[nodiscard]] friend constexpr bool operator==(const LookupBlock&, const LookupBlock&) = default;
};

/// In the order of summation, one or two; or one of all sources under PairOrder::listed, where the rows are those of some pairs,
/// none of which is looked up the other way round. `alike`: BeamformOptions::alike_both_ways(). Throws InputError where the
/// kernels have no loop for these rows.
[[nodiscard]] std::vector<LookupBlock> lookup_blocks(const PairRows& pairs, bool alike);

/// The groups of `pairs` x `pairs` sources in which some lookup is: those of a source of the transmit leg follow each other.
struct ListedLookups {
  std::vector<std::uint32_t> groups;  ///< as ListedPairs has them
  std::vector<std::uint32_t> rows;

  [[nodiscard]] std::size_t count() const { return groups.size() / 2; }
};
/// Of lookups none of which is reversed. Throws InputError for a pair that has two rows.
[[nodiscard]] ListedLookups list_lookups(const PairRows& rows, std::uint32_t pairs);
/// Groups that there can be at most, whichever of as many rows are looked up.
[[nodiscard]] std::size_t most_listed_groups(const PairRows& rows, std::uint32_t pairs);

/// Whether they are all lookups of all sources of both legs, which one block does.
[[nodiscard]] bool whole(const std::vector<LookupBlock>& blocks, const PairRows& pairs);

/// One side of a launch: those of its sources that are in the range, of tables whose tiles have `pixels`.
[[nodiscard]] TileSide part_of(const TileSide& side, const SourceRange& range, std::size_t pixels);

}  // namespace echoform::beamform
