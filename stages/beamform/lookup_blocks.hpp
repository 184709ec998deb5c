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
  SourceRange inner;  ///< of the other leg; as `outer`, but under PairOrder::ordered_full
  std::size_t row = 0;
  PairOrder order = PairOrder::ordered_full;
  float once_weight = 1.0F;  ///< TileLaunch::once_weight
  bool reversed = false;

  [[nodiscard]] friend constexpr bool operator==(const LookupBlock&, const LookupBlock&) = default;
};

/// In the order of summation, one or two. `alike`: BeamformOptions::alike_both_ways(). Throws InputError where the kernels have
/// no loop for these rows.
[[nodiscard]] std::vector<LookupBlock> lookup_blocks(const PairRows& pairs, bool alike);

/// Whether they are all lookups of all sources of both legs, which one block does.
[[nodiscard]] bool whole(const std::vector<LookupBlock>& blocks, const PairRows& pairs);

/// One side of a launch: those of its sources that are in the range, of tables whose tiles have `pixels`.
[[nodiscard]] TileSide part_of(const TileSide& side, const SourceRange& range, std::size_t pixels);

}  // namespace echoform::beamform
