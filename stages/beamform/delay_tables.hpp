// Delay laws in the form that the kernels need: tiles of patches, whole bases and fractional offsets in samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "cpu/thread_team.hpp"
#include "pipeline/backend.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/beamform/tile_kernel.hpp"

namespace echoform::beamform {

/// The kernels of an instruction set.
[[nodiscard]] const KernelSet& kernels_of(SimdLevel level);

/// A piece of the image that one thread sums at a time: small enough that its sums, windows and delays stay in the cache.
struct Tile {
  std::uint32_t patches = 0;
  std::uint64_t first_patch = 0;  ///< of the tables
  Window window = Window::gather;
  bool checked = true;  ///< some pair may reach beyond the A-scan
};

/// How the grid is divided. Pixels are listed lane by lane. The last patches of a row or column extend beyond the edge;
/// pixels there are marked by `outside`, and their sums are not read.
struct Tiling {
  static constexpr std::uint32_t outside = UINT32_MAX;
  std::uint32_t lanes = 16;
  std::vector<Tile> tiles;
  std::vector<std::uint32_t> pixel;  ///< [patch, lane]: place in the image, or outside
  std::uint32_t most_patches = 0;    ///< of the largest tile
  [[nodiscard]] std::size_t patches() const { return pixel.size() / lanes; }
};

/// One leg's delays over all patches.
struct LegTables {
  std::uint32_t sources = 0;
  Buffer offset;  ///< float [patch, source, lane]
  Buffer weight;  ///< float [patch, source, lane]; empty where all weights are 1
  Buffer base;    ///< int32 [patch, source]; `inactive` where all lanes weigh nothing
  Buffer top;     ///< int32 [patch, source]: no offset of the patch exceeds it
  Buffer low;     ///< int32 [tile, source]: minimum base, for prefetching
  Buffer high;    ///< int32 [tile, source]: maximum of base + top
  [[nodiscard]] std::size_t bytes() const {
    return offset.size() + weight.size() + base.size() + top.size() + low.size() + high.size();
  }
};

struct DelayTables {
  Tiling tiling;
  LegTables transmit;
  LegTables receive;  ///< empty when the law and weights are reciprocal: both sides use `transmit`
  bool shared = true;
  bool weighted = false;
  [[nodiscard]] const LegTables& inner() const { return shared ? transmit : receive; }
  [[nodiscard]] std::size_t bytes() const { return transmit.bytes() + receive.bytes() + tiling.pixel.size() * 4; }
};

/// Bytes that the tables will take, known before anything is allocated. Weights of laws that leave pixels out are not
/// included, since they are found when the law is evaluated.
[[nodiscard]] std::size_t delay_table_bytes(const BeamformOptions& options, std::uint32_t lanes, std::size_t members);
/// Floats of the sums of one member, padded so that no two members write to one cache line.
[[nodiscard]] std::size_t tile_sum_floats(std::uint32_t most_patches, std::uint32_t lanes);
/// Patches of the largest tile into which a grid is cut for a team of `members`.
[[nodiscard]] std::uint32_t most_patches_of(const Grid& grid, std::uint32_t lanes, std::size_t members);

/// Evaluates the law in double precision over the whole grid. Throws InputError if the law gives an infinite time or one
/// of 1 s and more.
[[nodiscard]] DelayTables make_delay_tables(const BeamformOptions& options, const KernelSet& kernels, Backend& backend,
                                            ThreadTeam& team);

}  // namespace echoform::beamform
