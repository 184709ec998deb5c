// Delay laws in the form that the CUDA beamformer needs, made on the host in double precision. This file does not need CUDA.
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

/// Receives delays and weights piece by piece, as they are made. They take 4 or 8 bytes for every source and pixel, which is
/// too much for a host to hold at once for a volume.
class TileTableStore {
 public:
  virtual ~TileTableStore() = default;
  /// Announces that the tables of a side will have `entries` numbers, [tile, source, pixel of the tile]. With `weighted`
  /// there is a table of weights, too.
  virtual void begin(TileSideName side, std::size_t entries, bool weighted) = 0;
  /// Adds the entries from `first` on. Pieces come in order. `weights` is empty where there are none.
  virtual void add(TileSideName side, std::size_t first, std::span<const std::uint32_t> delays,
                   std::span<const float> weights) = 0;
  /// The same for the places of waves of revolution: announces `entries` places, [tile, pixel of the tile], and adds those
  /// from `first` on, in order.
  virtual void begin_places(std::size_t entries) = 0;
  virtual void add_places(std::size_t first, std::span<const TurnedPlace> places) = 0;
};

/// Tables of one side, with the layouts of TileSide. A table is empty where the kernel does not need it; delays, weights and
/// places also where a store has them.
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
  float scale = 1.0F;     ///< factor of the sums, since weights of plane waves are relative to the greatest
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
  const BeamformOptions& options;                     ///< validated; must outlive the request
  bool half = false;                                  ///< data path
  std::size_t shared_limit = std::size_t{227} << 10;  ///< bytes that a block may have on the device
  std::optional<TileKind> kind{};                     ///< requested by tests and benchmarks; else the best that fits
};

/// Evaluates the law in double precision. It finds bounds over every tile, and whole tables where the law has no analytic
/// form or there are weights. Plane waves and waves of revolution need no tables for weights that are the same for all
/// pixels. Throws InputError if the law gives an infinite time or one of 1 s and more, if delays are out of all proportion
/// to the A-scan, or if `kind` does not hold what the tiles reach. Delays, weights and places go to `store`; without one
/// they are kept in the plan.
[[nodiscard]] TilePlan make_tile_plan(const TilePlanRequest& request, ThreadTeam& team, TileTableStore* store = nullptr);

/// A lower bound of what the tables take on a device: those of every source and pixel where the law has no
/// analytic form or there are weights, else a form for every source and tile, and with waves of revolution a place for every
/// pixel. Bytes.
[[nodiscard]] std::size_t tile_table_bytes(const BeamformOptions& options, bool half);

/// half_delay_offset(), plus what turns truncation into rounding for nearest interpolation, floor(u + 1/2).
[[nodiscard]] double delay_offset(const TilePlanRequest& request);

/// The order in which kinds are tried. Large tiles share windows best, even where that takes wide windows (1.97 against 1.76
/// T lookups/s at 512 x 512 on an H200). Grids of few tiles are split over their pairs. `plane` requests the kinds for
/// computed delays of plane waves, which have kernels of every kind.
[[nodiscard]] std::vector<TileKind> candidates(const TilePlanRequest& request, bool plane = false);

/// Whether every window [tile, source] of every pair holds in the shape's capacity, with the neighbour of the last sample. A
/// delay in the kernel lies within its window, since window_between() leaves a margin for rounding. So the sum t of two
/// delays is below the sum R of their reaches. Sample floor(t) <= R - 1 and its neighbour are looked up; R + 2 samples are
/// copied, and this function demands space for as many.
[[nodiscard]] bool fits(const TileShape& shape, const std::vector<SourceWindow>& transmit,
                        const std::vector<SourceWindow>& receive, const SourceCounts& sources);

/// The vector TilePlan::checked.
[[nodiscard]] std::vector<std::uint8_t> find_checked(const std::vector<SourceWindow>& transmit,
                                                     const std::vector<SourceWindow>& receive, const SourceCounts& sources,
                                                     std::size_t samples);

/// The loop over the pairs of `pairs`, and the weight of pairs of two elements. `alike`: BeamformOptions::alike_both_ways().
/// `parted` pairs are some of all pairs: each block of lookup_blocks() has its own order, and `order` is `once` where one
/// side's tables serve both. Throws InputError where the kernels have none.
struct OrderOfPairs {
  PairOrder order = PairOrder::once;
  float once_weight = 1.0F;
  bool parted = false;
  bool one_side = false;  ///< one side's tables serve both: under PairOrder::once, and for listed pairs that are `alike`
};
[[nodiscard]] OrderOfPairs order_of(const PairRows& pairs, bool alike);
/// The number of sources of both legs.
[[nodiscard]] SourceCounts source_counts(const BeamformOptions& options);

/// set_order() sets the order and weight of pairs in `tiles`, set_shape() the kind and number of tiles.
void set_order(const TilePlanRequest& request, TilePlan& tiles);
void set_shape(const Grid& grid, TileKind kind, TilePlan& tiles);

}  // namespace echoform::beamform
