#include "stages/beamform/tile_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/errors.hpp"
#include "cpu/for_each_or_throw.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/lookup_blocks.hpp"
#include "stages/beamform/tile_math.hpp"
#include "stages/beamform/tile_side.hpp"

namespace echoform::beamform {
namespace {

/// Approximate number of entries in a piece of tables: large enough for a fast upload.
constexpr std::size_t numbers_at_once = std::size_t{4} << 20;

/// A store that keeps all tables.
class KeptTables final : public TileTableStore {
 public:
  explicit KeptTables(TilePlan& plan) : plan_(plan) {}
  void begin(TileSideName side, std::size_t entries, bool weighted) override {
    of(side).delays.reserve(entries);
    if (weighted) of(side).weights.reserve(entries);
  }
  void add(TileSideName side, std::size_t /*first*/, std::span<const std::uint32_t> delays,
           std::span<const float> weights) override {
    of(side).delays.insert(of(side).delays.end(), delays.begin(), delays.end());
    of(side).weights.insert(of(side).weights.end(), weights.begin(), weights.end());
  }
  void begin_places(std::size_t entries) override { plan_.transmit.places.reserve(entries); }
  void add_places(std::size_t /*first*/, std::span<const TurnedPlace> places) override {
    plan_.transmit.places.insert(plan_.transmit.places.end(), places.begin(), places.end());
  }

 private:
  TileSideTables& of(TileSideName side) { return side == TileSideName::transmit ? plan_.transmit : plan_.receive; }
  TilePlan& plan_;
};

SourceWindow window_of(const Bounds& bounds) {
  if (bounds.empty()) return {0, -1};
  return window_between(bounds.least, bounds.most);
}

/// Runs body(tile) for every tile. A body returns a number other than 0 for a bad source; the result is one of these numbers, or
/// 0.
template <class Body>
std::uint32_t over_tiles(std::size_t tiles, ThreadTeam& team, const Body& body) {
  std::atomic<std::uint32_t> bad{0};
  for_each_or_throw(team, tiles, 1, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t tile = first; tile < last; ++tile) {
      if (const std::uint32_t source = body(tile); source != 0) bad = source;
    }
  });
  return bad;
}

/// Finds the windows of all (tile, source). For laws without analytic form this evaluates delays in double precision and weights
/// in single precision. fill_tables evaluates them again, so that tables need not be kept for shapes that turn out not to fit.
std::vector<SourceWindow> find_windows(const SideInSamples& side, const Grid& grid, const TileShape& shape, bool tables,
                                       ThreadTeam& team) {
  const std::size_t tiles = tile_count(grid, shape);
  std::vector<SourceWindow> windows(tiles * side.sources());
  std::atomic<std::uint32_t> far{0};
  const std::uint32_t bad = over_tiles(tiles, team, [&](std::size_t tile) -> std::uint32_t {
    const TilePlace place = place_of(grid, shape, tile);
    std::vector<Point> points;
    std::vector<double> delays;
    std::vector<float> weights;
    if (tables) tile_points(grid, shape, place, points);
    for (std::uint32_t source = 0; source < side.sources(); ++source) {
      Bounds bounds;
      if (!tables) {
        bounds = side.bounds(source, place);
      } else {
        if (!side.evaluate(source, points, delays, weights)) return source + 1;
        for (std::size_t k = 0; k < points.size(); ++k) {
          if (weights[k] == 0.0F) continue;
          bounds.least = std::min(bounds.least, delays[k]);
          bounds.most = std::max(bounds.most, delays[k]);
        }
      }
      if (!bounds.empty() && !(std::abs(bounds.least) < delay_limit && std::abs(bounds.most) < delay_limit)) {
        far = source + 1;
        bounds = {};
      }
      windows[tile * side.sources() + source] = window_of(bounds);
    }
    return 0;
  });
  if (bad != 0) refuse_times(side.law(), bad - 1);
  if (far != 0) refuse_distance(side.law(), far - 1);
  return windows;
}

void fill_tables(const SideInSamples& side, TileSideName name, const Grid& grid, const TileShape& shape, bool weighted,
                 const std::vector<SourceWindow>& windows, TileTableStore& store, ThreadTeam& team) {
  const std::size_t pixels = std::size_t{shape.x} * shape.z;
  const std::size_t of_tile = pixels * side.sources();
  const std::size_t tiles = tile_count(grid, shape);
  const std::size_t at_once = std::clamp<std::size_t>(numbers_at_once / of_tile, 1, std::max<std::size_t>(1, tiles));
  const double unit = std::ldexp(1.0, 32 - static_cast<int>(shape.index_bits));
  store.begin(name, windows.size() * pixels, weighted);
  std::vector<std::uint32_t> piece(at_once * of_tile);
  std::vector<float> piece_weights(weighted ? piece.size() : 0);
  for (std::size_t from = 0; from < tiles; from += at_once) {
    const std::size_t count = std::min(at_once, tiles - from);
    over_tiles(count, team, [&](std::size_t k) -> std::uint32_t {
      std::vector<Point> points;
      std::vector<double> delays;
      std::vector<float> weights;
      tile_points(grid, shape, place_of(grid, shape, from + k), points);
      for (std::uint32_t source = 0; source < side.sources(); ++source) {
        const SourceWindow& window = windows[(from + k) * side.sources() + source];
        static_cast<void>(side.evaluate(source, points, delays, weights));
        const std::size_t first = k * of_tile + source * pixels;
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
          // Places of weight 0 look up the window's first sample.
          const double relative = weights[pixel] == 0.0F ? 0.0 : delays[pixel] - window.base;
          piece[first + pixel] = static_cast<std::uint32_t>(std::floor(relative * unit));
          if (weighted) piece_weights[first + pixel] = weights[pixel];
        }
      }
      return 0;
    });
    store.add(name, from * of_tile, std::span(piece).first(count * of_tile),
              std::span(piece_weights).first(weighted ? count * of_tile : 0));
  }
}

/// `coordinates` is the side whose pixel coordinates the kernel has.
void fill_forms(const SideInSamples& side, const SideInSamples& coordinates, const Grid& grid, const TileShape& shape, bool half,
                TileSideTables& tables, ThreadTeam& team) {
  tables.forms.resize(tables.windows.size());
  if (!half) tables.phases.resize(tables.windows.size());
  over_tiles(tile_count(grid, shape), team, [&](std::size_t tile) -> std::uint32_t {
    const TilePlace place = place_of(grid, shape, tile);
    for (std::uint32_t source = 0; source < side.sources(); ++source) {
      const std::size_t entry = tile * side.sources() + source;
      float phase = 0.0F;
      tables.forms[entry] =
          side.form_of(source, place, tables.windows[entry], shape.index_bits, coordinates.samples_per_metre(), phase);
      if (!half) tables.phases[entry] = phase;
    }
    return 0;
  });
  if (&side != &coordinates) return;
  tables.x = side.coordinates(grid.x, shape.x);
  tables.z = side.coordinates(grid.z, shape.z);
}

void fill_places(const SideInSamples& side, const Grid& grid, const TileShape& shape, TileTableStore& store, ThreadTeam& team) {
  const std::size_t pixels = std::size_t{shape.x} * shape.z;
  const std::size_t tiles = tile_count(grid, shape);
  const std::size_t at_once = std::clamp<std::size_t>(numbers_at_once / pixels, 1, tiles);
  store.begin_places(tiles * pixels);
  std::vector<TurnedPlace> piece(at_once * pixels);
  for (std::size_t from = 0; from < tiles; from += at_once) {
    const std::size_t count = std::min(at_once, tiles - from);
    over_tiles(count, team, [&](std::size_t k) -> std::uint32_t {
      side.turned_places(shape, place_of(grid, shape, from + k), std::span(piece).subspan(k * pixels, pixels));
      return 0;
    });
    store.add_places(from * pixels, std::span(piece).first(count * pixels));
  }
}

/// Whether delays of waves are computed on one side and of points on the other.
bool computes_waves(const TilePlanRequest& request, const SideInSamples& transmit, const SideInSamples& receive) {
  const PairRows& pairs = request.options.pairs;
  const std::vector<LookupBlock> blocks = lookup_blocks(pairs, request.options.alike_both_ways());
  return blocks.size() == 1 && blocks.front().order == PairOrder::ordered_full && transmit.plane() && receive.analytic() &&
         !receive.weighted();
}

/// Windows depend only on a tile's pixels, and laws without analytic form need a whole evaluation. So kinds of one size share
/// them.
class WindowsBySize {
 public:
  struct Both {
    std::vector<SourceWindow> transmit;
    std::vector<SourceWindow> receive;  ///< empty where one side serves both
  };
  WindowsBySize(const SideInSamples& transmit, const SideInSamples& receive, const Grid& grid, bool one_side, ThreadTeam& team)
      : transmit_(transmit), receive_(receive), grid_(grid), one_side_(one_side), team_(team) {}

  Both& of(const TileShape& shape, bool tables) {
    const auto [place, is_new] = found_.try_emplace({shape.x, shape.z, tables});
    if (is_new) {
      place->second.transmit = find_windows(transmit_, grid_, shape, tables, team_);
      if (!one_side_) place->second.receive = find_windows(receive_, grid_, shape, tables, team_);
    }
    return place->second;
  }

 private:
  const SideInSamples& transmit_;
  const SideInSamples& receive_;
  const Grid& grid_;
  bool one_side_;
  ThreadTeam& team_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Both> found_;
};

std::int32_t greatest_reach(const std::vector<SourceWindow>& windows, std::uint32_t sources, std::size_t tile) {
  std::int32_t reach = -1;
  for (std::uint32_t source = 0; source < sources; ++source) reach = std::max(reach, windows[tile * sources + source].reach);
  return reach;
}

}  // namespace

double delay_offset(const TilePlanRequest& request) {
  double offset = half_delay_offset(request.options);
  if (request.options.interpolation == Interpolation::nearest) offset += 0.25;
  // The half path truncates fractions to ten bits. Half a unit in the last place more turns that into rounding.
  if (request.half && request.options.interpolation == Interpolation::linear) offset += 0.25 / 1024.0;
  return offset;
}

bool fits(const TileShape& shape, const std::vector<SourceWindow>& transmit, const std::vector<SourceWindow>& receive,
          const SourceCounts& sources) {
  for (std::size_t tile = 0; tile * sources.transmit < transmit.size(); ++tile) {
    const std::int64_t reach =
        std::int64_t{greatest_reach(transmit, sources.transmit, tile)} + greatest_reach(receive, sources.receive, tile);
    if (reach + 2 > static_cast<std::int64_t>(shape.window)) return false;
  }
  return true;
}

std::vector<std::uint8_t> find_checked(const std::vector<SourceWindow>& transmit, const std::vector<SourceWindow>& receive,
                                       const SourceCounts& sources, std::size_t samples) {
  std::vector<std::uint8_t> checked(transmit.size() / sources.transmit);
  const auto ends = [](const std::vector<SourceWindow>& windows, std::uint32_t count, std::size_t tile) {
    std::pair<std::int64_t, std::int64_t> range{std::numeric_limits<std::int32_t>::max(),
                                                std::numeric_limits<std::int32_t>::min()};
    for (std::uint32_t source = 0; source < count; ++source) {
      const SourceWindow& window = windows[tile * count + source];
      if (window.reach < 0) continue;
      range.first = std::min<std::int64_t>(range.first, window.base);
      range.second = std::max<std::int64_t>(range.second, std::int64_t{window.base} + window.reach);
    }
    return range;
  };
  for (std::size_t tile = 0; tile < checked.size(); ++tile) {
    const auto a = ends(transmit, sources.transmit, tile);
    const auto b = ends(receive, sources.receive, tile);
    // Sources that reach no pixel look up the leading zeros. They are outside of every A-scan, which does no harm.
    checked[tile] = a.first + b.first < 0 || a.second + b.second > static_cast<std::int64_t>(samples) - 2;
  }
  return checked;
}

std::vector<TileKind> candidates(const TilePlanRequest& request, bool plane) {
  const SourceCounts sources = source_counts(request.options);
  // When parts follow each other, the last part may have other counts than those before.
  const OrderOfPairs order = order_of(request.options.pairs, request.options.alike_both_ways());
  const bool separate = (sources.transmit != sources.receive || order.parted || order.order == PairOrder::listed) && !plane;
  if (request.kind) {
    if (!separate || has_separate_counts(*request.kind)) return {*request.kind};
    throw InputError("beamform stage, tiles", "a kind without kernels for as many events as there are",
                     "one for different numbers of events and receivers");
  }
  std::vector<TileKind> kinds{TileKind::large_narrow, TileKind::large_wide,   TileKind::small_narrow,
                              TileKind::small_wide,   TileKind::small_widest, TileKind::gather};
  if (separate) std::erase_if(kinds, [](TileKind kind) { return !has_separate_counts(kind); });
  return kinds;
}

OrderOfPairs order_of(const PairRows& pairs, bool alike) {
  const std::vector<LookupBlock> blocks = lookup_blocks(pairs, alike);
  if (whole(blocks, pairs)) {
    const PairOrder order = blocks.front().order;
    return {order, blocks.front().once_weight, false, order == PairOrder::once || (order == PairOrder::listed && alike)};
  }
  // Where the sides are alike, sums of both directions are looked up.
  return {pairs.summed ? PairOrder::once : PairOrder::ordered_full, 1.0F, true, pairs.summed};
}

SourceCounts source_counts(const BeamformOptions& options) {
  return {static_cast<std::uint32_t>(options.pairs.events), static_cast<std::uint32_t>(options.pairs.receivers)};
}

void set_order(const TilePlanRequest& request, TilePlan& tiles) {
  const OrderOfPairs found = order_of(request.options.pairs, request.options.alike_both_ways());
  tiles.order = found.order;
  tiles.once_weight = found.once_weight;
  tiles.parted = found.parted;
  tiles.one_side = found.one_side;
}

void set_shape(const Grid& grid, TileKind kind, TilePlan& tiles) {
  const TileShape shape = shape_of(kind);
  tiles.kind = kind;
  tiles.tiles_x = static_cast<std::uint32_t>((grid.x.count + shape.x - 1) / shape.x);
  tiles.tiles_z = static_cast<std::uint32_t>((grid.z.count + shape.z - 1) / shape.z);
  tiles.ny = static_cast<std::uint32_t>(grid.y.count);
}

TilePlan make_tile_plan(const TilePlanRequest& request, ThreadTeam& team, TileTableStore* store) {
  const BeamformOptions& options = request.options;
  const Grid& grid = options.grid;
  const DelayLaw& law = options.law;
  check_directivity(options);
  const SideInSamples transmit(request, *law.transmit, beamform::Side::transmit);
  const SideInSamples receive(request, *law.receive, beamform::Side::receive);
  TilePlan tiles;
  set_order(request, tiles);
  const bool one_side = tiles.one_side;
  const bool weighted = transmit.weighted() || receive.weighted() || has_invalid_times(law, grid, team);
  const bool waves = computes_waves(request, transmit, receive);
  const bool computed = waves || (!weighted && transmit.analytic() && receive.analytic());
  const SourceCounts sources = source_counts(options);
  WindowsBySize sizes(transmit, receive, grid, one_side, team);

  for (const TileKind kind : candidates(request, waves)) {
    const TileShape shape = shape_of(kind);
    const bool tables = !computed || kind == TileKind::gather;
    const bool once = tiles.order == PairOrder::once;
    if (tile_shared_bytes(kind, !tables, request.half, sources, once) > request.shared_limit) continue;
    WindowsBySize::Both& windows = sizes.of(shape, tables);
    if (!fits(shape, windows.transmit, one_side ? windows.transmit : windows.receive, sources)) continue;
    tiles.transmit.windows = std::move(windows.transmit);
    tiles.receive.windows = std::move(windows.receive);
    const auto& other = one_side ? tiles.transmit.windows : tiles.receive.windows;
    set_shape(grid, kind, tiles);
    tiles.analytic = !tables;
    tiles.plane = !tables && waves;
    tiles.turned = tiles.plane && transmit.turned();
    tiles.points = tiles.turned && transmit.turned_points();
    if (tiles.plane) tiles.scale = transmit.greatest_weight();
    tiles.checked = find_checked(tiles.transmit.windows, other, sources, options.gate.count);
    KeptTables kept(tiles);
    const auto fill = [&](const SideInSamples& side, TileSideName name, TileSideTables& side_tables) {
      if (tables) {
        fill_tables(side, name, grid, shape, weighted, side_tables.windows, store != nullptr ? *store : kept, team);
      } else {
        fill_forms(side, waves ? receive : side, grid, shape, request.half, side_tables, team);
      }
    };
    fill(transmit, TileSideName::transmit, tiles.transmit);
    if (!one_side) fill(receive, TileSideName::receive, tiles.receive);
    if (tiles.turned) fill_places(transmit, grid, shape, store != nullptr ? *store : kept, team);
    return tiles;
  }
  throw InputError(fmt::format("beamform stage, delay law {}", law.view), "pixels whose delays lie too far apart for its tiles",
                   "a finer grid, or a lower sample rate");
}

std::size_t tile_table_bytes(const BeamformOptions& options, bool half) {
  const TilePlanRequest request{.options = options, .half = half};
  const SideInSamples transmit(request, *options.law.transmit, beamform::Side::transmit);
  const SideInSamples receive(request, *options.law.receive, beamform::Side::receive);
  const bool weighted = transmit.weighted() || receive.weighted();
  const bool waves = computes_waves(request, transmit, receive);
  const bool computed = waves || (!weighted && transmit.analytic() && receive.analytic());
  const std::size_t sources = transmit.sources() + (options.alike_both_ways() ? 0 : receive.sources());
  const std::size_t entries = tile_count(options.grid, shape_of(TileKind::large_narrow)) * sources;
  if (!computed) {
    return entries * sizeof(SourceWindow) +
           options.grid.pixels() * sources * (sizeof(std::uint32_t) + (weighted ? sizeof(float) : 0));
  }
  const std::size_t places = waves && transmit.turned() ? options.grid.pixels() * sizeof(TurnedPlace) : 0;
  return places + entries * (sizeof(SourceWindow) + sizeof(SourceForm) + (half ? 0 : sizeof(float)));
}

}  // namespace echoform::beamform
