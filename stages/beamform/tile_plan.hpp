// Delay laws as the CUDA beamformer wants them, made on the host in double precision. No CUDA here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu/thread_team.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/beamform/tile_launch.hpp"

namespace echoform::beamform {

enum class TileSideName : std::uint8_t { transmit, receive };

/// Takes delays and weights as they are made, piece by piece: 4 or 8 bytes for every source and pixel, which a volume has too
/// many of to be held by the host as a whole.
class TileTableStore {
 public:
  virtual ~TileTableStore() = default;
  /// The tables of a side will have `entries` numbers, [tile, source, pixel of the tile]; `weighted`: weights too.
  virtual void begin(TileSideName side, std::size_t entries, bool weighted) = 0;
  /// Those from `first` on, in order. `weights` is empty where there are none.
  virtual void add(TileSideName side, std::size_t first, std::span<const std::uint32_t> delays,
                   std::span<const float> weights) = 0;
  /// Of waves of revolution: `entries` places, [tile, pixel of the tile], and those from `first` on, in order.
  virtual void begin_places(std::size_t entries) = 0;
  virtual void add_places(std::size_t first, std::span<const TurnedPlace> places) = 0;
};

/// Tables of one side; empty where the kernel does not want them, and delays and weights where a store has them. Layouts as
/// TileSide.
struct TileSideTables {
  std::vector<SourceWindow> windows;
  std::vector<SourceForm> forms;
  std::vector<float> phases;
  std::vector<float> x;
  std::vector<float> z;
  std::vector<std::uint32_t> delays;
  std::vector<float> weights;
  std::vector<TurnedPlace> places;
};

struct TilePlan {
  TileKind kind = TileKind::large_narrow;
  bool analytic = false;  ///< TileLaunch::analytic
  bool plane = false;     ///< TileLaunch::plane
  bool turned = false;    ///< TileLaunch::turned
  bool points = false;    ///< TileLaunch::points
  float scale = 1.0F;     ///< to be multiplied into the sums: weights of plane waves are relative to the greatest
  PairOrder order = PairOrder::once;
  float once_weight = 1.0F;
  bool parted = false;    ///< OrderOfPairs::parted: tables hold all sources, launches take some
  bool one_side = false;  ///< OrderOfPairs::one_side
  std::uint32_t tiles_x = 0;
  std::uint32_t tiles_z = 0;
  std::uint32_t ny = 0;
  TileSideTables transmit;
  TileSideTables receive;             ///< empty where `one_side`: both sides are `transmit`
  std::vector<std::uint8_t> checked;  ///< [tile]
  [[nodiscard]] std::size_t tiles() const { return std::size_t{tiles_x} * tiles_z * ny; }
};

struct TilePlanRequest {
  const BeamformOptions& options;                     ///< validated; outlives the request
  bool half = false;                                  ///< data path
  std::size_t shared_limit = std::size_t{227} << 10;  ///< bytes that a block may have on the device
  std::optional<TileKind> kind{};                     ///< asked for by tests and benchmarks; else the best that fits
};

/// Evaluates the law in double precision: bounds over every tile, and whole tables where it has no analytic form or there are
/// weights; plane waves, and waves of revolution, may have weights that are the same for all pixels. Throws InputError if the law
/// gives an infinite time or one of 1 s and more, if delays are out of all proportion to the A-scan, or if `kind` does not hold
/// what the tiles reach. Delays, weights and places go to `store`; without one they are kept in the plan.
[[nodiscard]] TilePlan make_tile_plan(const TilePlanRequest& request, ThreadTeam& team, TileTableStore* store = nullptr);

/// A lower bound of what the tables take on a device: those of every source and pixel where the law has no
/// analytic form or there are weights, else a form for every source and tile, and with waves of revolution a place for every
/// pixel. Bytes.
[[nodiscard]] std::size_t tile_table_bytes(const BeamformOptions& options, bool half);

/// half_delay_offset(), and what makes rounding of cutting. Nearest: floor(u + 1/2).
[[nodiscard]] double delay_offset(const TilePlanRequest& request);

/// The order in which kinds are tried. Large tiles share windows best, even where that takes wide windows (1.97 against 1.76 T
/// lookups/s at 512 x 512 on an H200); grids of few tiles are split over their pairs. `plane`: for computed delays of plane
/// waves, which have kernels of every kind.
[[nodiscard]] std::vector<TileKind> candidates(const TilePlanRequest& request, bool plane = false);

/// Whether every window [tile, source] of every pair holds in the shape's capacity, with the neighbour of the last sample. A
/// delay as the kernel has it lies within its window, for whose rounding window_between() has left room, and the sum t of two
/// below the sum R of their reaches: sample floor(t) <= R - 1 and its neighbour are looked up, R + 2 are copied and asked for
/// here.
[[nodiscard]] bool fits(const TileShape& shape, const std::vector<SourceWindow>& transmit,
                        const std::vector<SourceWindow>& receive, const SourceCounts& sources);

/// TilePlan::checked.
[[nodiscard]] std::vector<std::uint8_t> find_checked(const std::vector<SourceWindow>& transmit,
                                                     const std::vector<SourceWindow>& receive, const SourceCounts& sources,
                                                     std::size_t samples);

/// The loop over the pairs of `pairs`, and the weight of pairs of two elements. `alike`: BeamformOptions::alike_both_ways().
/// Of `parted` pairs, some of all, each block of lookup_blocks() says its own; `order` is then `once` where one side's tables
/// serve both. Throws InputError where the kernels have none.
struct OrderOfPairs {
  PairOrder order = PairOrder::once;
  float once_weight = 1.0F;
  bool parted = false;
  bool one_side = false;  ///< one side's tables serve both: under PairOrder::once, and of listed pairs that are `alike`
};
[[nodiscard]] OrderOfPairs order_of(const PairRows& pairs, bool alike);
/// Of both legs.
[[nodiscard]] SourceCounts source_counts(const BeamformOptions& options);

/// Order and weight of pairs; kind and number of tiles.
void set_order(const TilePlanRequest& request, TilePlan& tiles);
void set_shape(const Grid& grid, TileKind kind, TilePlan& tiles);

}  // namespace echoform::beamform
