// The arguments that the host passes to the CUDA beamformer. This file needs none of CUDA's headers, so that tests on the
// host can check the arguments.
//
// A block of threads owns a tile of pixels. For 8 x 8 pairs of sources at a time it copies from each A-scan only the window of
// samples that the tile can reach into shared memory, where every lookup then finds its sample. Delays are whole numbers:
// the upper index_bits of 32 choose the sample of the window, the lower bits are the fraction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::beamform {

/// The shapes of tiles for which kernels exist. `window` is the capacity for one A-scan in samples.
struct TileShape {
  std::uint32_t x;           ///< pixels
  std::uint32_t z;           ///< pixels
  std::uint32_t index_bits;  ///< of a delay
  std::uint32_t window;      ///< even, at most 2^index_bits
  std::uint32_t pairs;       ///< sources of either side in shared memory at a time
  std::uint32_t threads;     ///< of a block
  std::uint32_t blocks;      ///< that a multiprocessor holds at once, limited by registers; see resident_blocks()
};

enum class TileKind : std::uint8_t { large_narrow, large_wide, small_narrow, small_wide, small_widest, gather };
inline constexpr std::size_t tile_kind_count = 6;
inline constexpr TileShape tile_shapes[tile_kind_count] = {
    {32, 16, 6, 64, 8, 256, 3},  {32, 16, 7, 96, 8, 256, 2},     {16, 16, 6, 64, 8, 256, 3}, {16, 16, 7, 96, 8, 256, 2},
    {16, 16, 8, 192, 4, 256, 3}, {16, 16, 16, 65536, 8, 256, 2},  // gather: straight from the A-scans in device memory
};
/// Whether there are kernels for sides of different counts. One kind of each capacity of windows has them, since frames with
/// different counts usually have few pairs.
[[nodiscard]] constexpr bool has_separate_counts(TileKind kind) {
  return kind == TileKind::large_narrow || kind == TileKind::large_wide || kind == TileKind::small_widest ||
         kind == TileKind::gather;
}
[[nodiscard]] constexpr TileShape shape_of(TileKind kind) {
  return tile_shapes[static_cast<std::size_t>(kind)];
}

/// Zeros before the first row and behind the samples of every row, in elements: no window reaches beyond them.
inline constexpr std::uint32_t row_margin = 256;

/// Window of a (tile, source): `base` is even and no pixel of the tile lies before it; `reach` >= every delay - base.
/// A source that no pixel of the tile can use has reach < 0.
struct SourceWindow {
  std::int32_t base;
  std::int32_t reach;
};

/// The analytic form of a (tile, source), in samples. Half path: coordinates from the middle of the grid {x, z, dy^2,
/// phase}. Float path: relative to the tile's reference pixel {2 dx, 2 dz, d^2, d}, with a separate `phase`: differences of
/// distances then come out to single precision of the difference. Plane waves: {samples a coordinate along x, along z,
/// weight of the wave, phase}, for the coordinates of the other side. On the float path `phase` is separate, too. In shared
/// memory of the half path the weight is a pair of half-precision numbers. Waves of revolution, for places as TurnedPlace:
/// plane waves have {samples a coordinate along, out, weight, phase}. Waves from virtual sources have {source along, out,
/// weight, phase} on the half path and {2 dx, 2 dz, weight, d} on the float path.
struct SourceForm {
  float a;
  float b;
  float c;
  float d;
};

/// Place of a pixel relative to the line on which the elements lie, in samples from the tile's reference pixel: along the
/// line and perpendicular to it. Waves of such elements are symmetric about the line.
struct alignas(8) TurnedPlace {
  float along;
  float out;
};

/// One side of the sum. Pointers are to device memory; [tile, source] in this order, or [tile, source, pixel of the tile].
struct TileSide {
  const SourceWindow* windows = nullptr;
  const SourceForm* forms = nullptr;      ///< where delays are computed on the fly
  const float* phases = nullptr;          ///< with relative forms
  const float* x = nullptr;               ///< pixel coordinates in samples for the forms: [nx]; not for plane waves
  const float* z = nullptr;               ///< [nz]
  const std::uint32_t* delays = nullptr;  ///< where delays come from tables
  const float* weights = nullptr;         ///< likewise; absent where all weights are 1
  const TurnedPlace* places = nullptr;    ///< for waves of revolution: [tile, pixel of the tile]
  std::uint32_t tabled = 0;  ///< sources of a tile in these tables; a launch may take a part of them that is contiguous
};

/// The loops over pairs that the kernels have, and the row of each pair: order_of() in tile_plan.hpp chooses one.
enum class PairOrder : std::uint8_t {
  once,          ///< i <= j, rows (0,0), (0,1) ... (1,1) ...
  ordered_full,  ///< all (i, j), row i * receivers + j
  ordered_half,  ///< all (i, j), row of (min, max) in that same order
  listed,        ///< only listed pairs, each with its row
};

/// The pairs of PairOrder::listed, in device memory. A group has TileShape::pairs sources of either side. Only groups in
/// which some pair has a row are listed.
struct ListedPairs {
  const std::uint32_t* groups = nullptr;  ///< [group, 2]: which group of the transmit side, and which of the receive side
  const std::uint32_t* rows = nullptr;    ///< [group, pairs, pairs]: the row of a source of the transmit and one of the
                                          ///< receive side, or no_listed_row
  std::uint32_t count = 0;                ///< groups
};
/// The entry of ListedPairs::rows for a pair without a row.
inline constexpr std::uint32_t no_listed_row = UINT32_MAX;

struct TileLaunch {
  TileKind kind = TileKind::large_narrow;
  bool half = false;      ///< data path: complex_half_slope, else complex64
  bool nearest = false;   ///< float path only; the half path has it in its data
  bool analytic = false;  ///< delays of both sides are computed on the fly
  PairOrder order = PairOrder::once;

  const void* rows = nullptr;  ///< the first of the leading zeros; 8 bytes an element
  std::uint32_t row_stride = 0;
  std::int32_t samples = 0;
  const float* factor = nullptr;  ///< half path: from stored to amplitude, on the device

  TileSide transmit;
  TileSide receive;
  std::uint32_t sources = 0;  ///< of the transmit side, and of the receive side too unless `separate`
  float once_weight = 1.0F;   ///< weight of off-diagonal pairs under PairOrder::once
  float scale = 1.0F;

  std::uint32_t nx = 0;
  std::uint32_t nz = 0;
  std::uint32_t ny = 0;
  std::uint32_t tiles_x = 0;
  std::uint32_t tiles_z = 0;
  const std::uint8_t* checked = nullptr;  ///< [tile]: some lookup may lie outside of its A-scan (float path)
  std::uint32_t splits = 1;               ///< blocks that share a tile's pairs
  float* partial = nullptr;               ///< complex [split, pixel], where splits > 1
  float* image = nullptr;                 ///< complex [z, y, x]

  std::uint32_t receivers = 0;  ///< sources of the receive side
  bool separate = false;        ///< the sides' counts differ; PairOrder::ordered_full
  bool plane = false;           ///< `analytic`: sources of the transmit side are plane waves, whatever their count; ordered_full
  bool turned = false;          ///< `plane`: they are waves of revolution, plane ones or, with `points`, of virtual sources
  bool points = false;
  ListedPairs listed;  ///< of PairOrder::listed
};

/// Sources of the two sides.
struct SourceCounts {
  std::uint32_t transmit = 0;
  std::uint32_t receive = 0;
};
[[nodiscard]] constexpr SourceCounts sources_of(const TileLaunch& launch) {
  return {launch.sources, launch.receivers};
}

/// Shared memory of a block: two stages of windows, aligned so that an address is a sum without carries, then the tables of all
/// sources of one or both sides. 0 for gather.
[[nodiscard]] constexpr std::size_t tile_shared_bytes(TileKind kind, bool analytic, bool half, const SourceCounts& sources,
                                                      bool one_side) {
  const TileShape shape = shape_of(kind);
  if (kind == TileKind::gather) return 0;
  const auto padded = [&](std::size_t count) { return (count + shape.pairs - 1) / shape.pairs * shape.pairs; };
  const std::size_t tabled = padded(sources.transmit) + (one_side ? 0 : padded(sources.receive));
  const std::size_t a_source = sizeof(SourceWindow) + (analytic ? sizeof(SourceForm) + (half ? 0 : sizeof(float)) : 0);
  return (std::size_t{8} << shape.index_bits) + std::size_t{16} * shape.pairs * shape.pairs * shape.window + tabled * a_source;
}

/// Groups of `pairs` x `pairs` sources that a launch goes through.
ECHOFORM_HOST_DEVICE constexpr std::uint32_t group_count(std::uint32_t sources, std::uint32_t pairs, PairOrder order) {
  const std::uint32_t groups = (sources + pairs - 1) / pairs;
  return order == PairOrder::once ? groups * (groups + 1) / 2 : groups * groups;
}
ECHOFORM_HOST_DEVICE constexpr std::uint32_t group_count(const SourceCounts& sources, std::uint32_t pairs, PairOrder order) {
  if (sources.transmit == sources.receive) return group_count(sources.transmit, pairs, order);
  return ((sources.transmit + pairs - 1) / pairs) * ((sources.receive + pairs - 1) / pairs);
}

/// A device's shared memory in bytes.
struct SharedMemory {
  std::size_t of_multiprocessor;
  std::size_t reserved_of_block;  ///< that the driver takes in addition to what a block requests
};

/// Blocks of a kind that a multiprocessor holds at once (at least 1), each with `shared` bytes: fewer than TileShape::blocks
/// where the tables of many sources take the memory.
[[nodiscard]] constexpr std::size_t resident_blocks(TileKind kind, std::size_t shared, const SharedMemory& device) {
  constexpr std::size_t granule = 128;  // of compute capability 8.0 and higher
  const std::size_t of_block = (shared + device.reserved_of_block + granule - 1) / granule * granule;
  const std::size_t blocks = shape_of(kind).blocks;
  return of_block == 0 ? blocks : std::clamp<std::size_t>(device.of_multiprocessor / of_block, 1, blocks);
}

/// Number of parts into which the pairs of every tile are split. There are then enough blocks for several rounds of the
/// device's `resident` blocks, so that an incomplete last round costs little.
[[nodiscard]] constexpr std::uint32_t split_count(std::size_t tiles, std::size_t groups, std::size_t resident) {
  const std::size_t wanted = (6 * resident + tiles - 1) / tiles;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(1, groups / 4)));
}

}  // namespace echoform::beamform
