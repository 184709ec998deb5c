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
#include "stages/beamform/apodization.hpp"
#include "stages/beamform/law_checks.hpp"
#include "stages/beamform/tile_math.hpp"

namespace echoform::beamform {
namespace {

/// Half path: farther than so many samples from a source, single precision holds a distance to no more than 1e-3 of a sample, and
/// farther still not within rounding_guard. Delays then come from tables.
constexpr double half_distance_limit = 1 << 14;

/// Numbers of a piece of tables, about: large enough that its upload is quick.
constexpr std::size_t numbers_at_once = std::size_t{4} << 20;

/// Keeps all of them.
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

 private:
  TileSideTables& of(TileSideName side) { return side == TileSideName::transmit ? plan_.transmit : plan_.receive; }
  TilePlan& plan_;
};

struct Bounds {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  [[nodiscard]] bool empty() const { return !(least <= most); }
};

/// Pixels [x_first, x_end) x [z_first, z_end) in one plane.
struct TilePlace {
  std::uint32_t x_first, x_end, z_first, z_end, y;
};

TilePlace place_of(const Grid& grid, const TileShape& shape, std::size_t tile) {
  const std::size_t across = (grid.x.count + shape.x - 1) / shape.x;
  const std::size_t down = (grid.z.count + shape.z - 1) / shape.z;
  const std::size_t in_plane = tile % (across * down);
  const auto x = static_cast<std::uint32_t>(in_plane % across * shape.x);
  const auto z = static_cast<std::uint32_t>(in_plane / across * shape.z);
  return {x, std::min(x + shape.x, static_cast<std::uint32_t>(grid.x.count)), z,
          std::min(z + shape.z, static_cast<std::uint32_t>(grid.z.count)), static_cast<std::uint32_t>(tile / (across * down))};
}

std::size_t tile_count(const Grid& grid, const TileShape& shape) {
  return ((grid.x.count + shape.x - 1) / shape.x) * ((grid.z.count + shape.z - 1) / shape.z) * grid.y.count;
}

/// Points of a tile in the order of its threads: patches of 8 x 4 pixels, row by row. Places beyond the image repeat its last
/// pixels.
void tile_points(const Grid& grid, const TileShape& shape, const TilePlace& tile, std::vector<Point>& points) {
  const std::uint32_t across = shape.x / 8;
  points.resize(std::size_t{shape.x} * shape.z);
  for (std::uint32_t place = 0; place < points.size(); ++place) {
    const std::uint32_t x = tile.x_first + place / 32 % across * 8 + place % 8;
    const std::uint32_t z = tile.z_first + place / 32 / across * 4 + place % 32 / 8;
    points[place] = {grid.x.at(std::min(x, tile.x_end - 1)), grid.y.at(tile.y), grid.z.at(std::min(z, tile.z_end - 1))};
  }
}

/// One side of the law, in samples.
class SideInSamples {
 public:
  SideInSamples(const TilePlanRequest& request, const Leg& leg, beamform::Side side)
      : options_(request.options), leg_(leg), side_(side), half_(request.half), offset_(delay_offset(request)) {
    window_ = source_window(options_.aperture, side, leg.sources());
    analytic_ = true;
    for (std::size_t source = 0; source < leg.sources() && analytic_; ++source) {
      const auto form = leg.point_source(source);
      if (form && source == 0) velocity_ = form->velocity.value;
      analytic_ = form && form->velocity.value == velocity_;
      if (form) forms_.push_back(*form);
    }
    if (half_ && analytic_) analytic_ = greatest_distance() < half_distance_limit;
  }

  [[nodiscard]] bool analytic() const { return analytic_; }
  [[nodiscard]] bool weighted() const { return !window_.empty(); }
  [[nodiscard]] std::uint32_t sources() const { return static_cast<std::uint32_t>(leg_.sources()); }
  [[nodiscard]] double samples_per_metre() const { return options_.sample_rate.value / velocity_; }

  /// Bounds of the delays over a tile. Closed form for point sources: the nearest point of the tile and its farthest corner.
  [[nodiscard]] Bounds analytic_bounds(std::uint32_t source, const TilePlace& tile) const {
    const PointSourceForm& form = forms_[source];
    const Grid& grid = options_.grid;
    const auto nearest = [](double position, double first, double last) { return std::clamp(position, first, last) - position; };
    const auto farthest = [](double position, double first, double last) {
      return std::max(std::abs(first - position), std::abs(last - position));
    };
    const double x0 = grid.x.at(tile.x_first).value, x1 = grid.x.at(tile.x_end - 1).value;
    const double z0 = grid.z.at(tile.z_first).value, z1 = grid.z.at(tile.z_end - 1).value;
    const double dy = grid.y.at(tile.y).value - form.origin.y.value;
    const double least = std::hypot(nearest(form.origin.x.value, x0, x1), dy, nearest(form.origin.z.value, z0, z1));
    const double most = std::hypot(farthest(form.origin.x.value, x0, x1), dy, farthest(form.origin.z.value, z0, z1));
    const double offset = form.offset.value * options_.sample_rate.value + offset_;
    return {least * samples_per_metre() + offset, most * samples_per_metre() + offset};
  }

  /// Delays and weights of a tile's places; NaN where there is no path. False if the law is wrong.
  [[nodiscard]] bool evaluate(std::uint32_t source, const std::vector<Point>& points, std::vector<double>& delays,
                              std::vector<float>& weights) const {
    delays.resize(points.size());
    weights.assign(points.size(), 1.0F);
    leg_.travel_times(source, points, delays);
    if (weighted()) {
      element_weights(options_.aperture, side_, leg_, source, window_[source], points, weights);
    }
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (std::isnan(delays[k])) {
        weights[k] = 0.0F;
        continue;
      }
      if (!(std::abs(delays[k]) < 1.0)) return false;
      delays[k] = delays[k] * options_.sample_rate.value + offset_;
    }
    return true;
  }

  [[nodiscard]] SourceForm form_of(std::uint32_t source, const TilePlace& tile, const SourceWindow& window,
                                   std::uint32_t index_bits, float& phase) const {
    const PointSourceForm& form = forms_[source];
    const Grid& grid = options_.grid;
    const double k = samples_per_metre();
    const double dy = (grid.y.at(tile.y).value - form.origin.y.value) * k;
    const double added =
        form.offset.value * options_.sample_rate.value + offset_ - window.base + static_cast<double>(1u << index_bits);
    if (half_) {
      phase = 0.0F;
      return {static_cast<float>((form.origin.x.value - middle(grid.x)) * k),
              static_cast<float>((form.origin.z.value - middle(grid.z)) * k), static_cast<float>(dy * dy),
              static_cast<float>(added)};
    }
    const double dx = reference(grid.x, tile.x_first, tile.x_end) * k - form.origin.x.value * k;
    const double dz = reference(grid.z, tile.z_first, tile.z_end) * k - form.origin.z.value * k;
    const double squared = dx * dx + dy * dy + dz * dz;
    phase = static_cast<float>(std::sqrt(squared) + added);
    return {static_cast<float>(2.0 * dx), static_cast<float>(2.0 * dz), static_cast<float>(squared),
            static_cast<float>(std::sqrt(squared))};
  }

  /// Pixel coordinates to go with the forms.
  [[nodiscard]] std::vector<float> coordinates(const Axis& axis, std::uint32_t tile_pixels) const {
    std::vector<float> places(axis.count);
    for (std::uint32_t pixel = 0; pixel < axis.count; ++pixel) {
      const std::uint32_t first = pixel / tile_pixels * tile_pixels;
      const std::uint32_t end = std::min(first + tile_pixels, static_cast<std::uint32_t>(axis.count));
      const double from = half_ ? middle(axis) : reference(axis, first, end);
      places[pixel] = static_cast<float>((axis.at(pixel).value - from) * samples_per_metre());
    }
    return places;
  }

  [[nodiscard]] const DelayLaw& law() const { return options_.law; }

 private:
  /// Coordinates of the half path count from here, wherever the probe's own origin lies: single precision is for differences.
  [[nodiscard]] static double middle(const Axis& axis) { return 0.5 * (axis.first.value + axis.last.value); }

  /// Of a pixel from a point source, in samples.
  [[nodiscard]] double greatest_distance() const {
    const auto farthest = [](Metres position, const Axis& axis) {
      return std::max(std::abs((axis.first - position).value), std::abs((axis.last - position).value));
    };
    double greatest = 0.0;
    for (const PointSourceForm& form : forms_) {
      greatest = std::max(greatest, std::hypot(farthest(form.origin.x, options_.grid.x), farthest(form.origin.y, options_.grid.y),
                                               farthest(form.origin.z, options_.grid.z)));
    }
    return greatest * samples_per_metre();
  }

  [[nodiscard]] static double reference(const Axis& axis, std::uint32_t first, std::uint32_t end) {
    return axis.at((first + end - 1) / 2).value;
  }

  const BeamformOptions& options_;
  const Leg& leg_;
  beamform::Side side_;
  bool half_;
  double offset_;
  std::vector<double> window_;
  bool analytic_ = false;
  double velocity_ = 0.0;
  std::vector<PointSourceForm> forms_;
};

SourceWindow window_of(const Bounds& bounds) {
  if (bounds.empty()) return {0, -1};
  return window_between(bounds.least, bounds.most);
}

/// Runs body(tile) for every tile; the first source that a body calls bad ends in `refuse`.
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

/// Windows of all (tile, source); with them, for laws without analytic form, delays and weights in double and single precision
/// are evaluated again by fill_tables, so that tables need not be kept for shapes that turn out not to fit.
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
        bounds = side.analytic_bounds(source, place);
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
          // Places that weigh nothing look up the window's first sample.
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

void fill_forms(const SideInSamples& side, const Grid& grid, const TileShape& shape, bool half, TileSideTables& tables,
                ThreadTeam& team) {
  tables.forms.resize(tables.windows.size());
  if (!half) tables.phases.resize(tables.windows.size());
  over_tiles(tile_count(grid, shape), team, [&](std::size_t tile) -> std::uint32_t {
    const TilePlace place = place_of(grid, shape, tile);
    for (std::uint32_t source = 0; source < side.sources(); ++source) {
      const std::size_t entry = tile * side.sources() + source;
      float phase = 0.0F;
      tables.forms[entry] = side.form_of(source, place, tables.windows[entry], shape.index_bits, phase);
      if (!half) tables.phases[entry] = phase;
    }
    return 0;
  });
  tables.x = side.coordinates(grid.x, shape.x);
  tables.z = side.coordinates(grid.z, shape.z);
}

/// Windows depend on a tile's pixels alone, and laws without analytic form cost a whole evaluation: kinds of one size share them.
class WindowsBySize {
 public:
  struct Both {
    std::vector<SourceWindow> transmit;
    std::vector<SourceWindow> receive;  ///< empty where pairs are looked up once
  };
  WindowsBySize(const SideInSamples& transmit, const SideInSamples& receive, const Grid& grid, bool once, ThreadTeam& team)
      : transmit_(transmit), receive_(receive), grid_(grid), once_(once), team_(team) {}

  Both& of(const TileShape& shape, bool tables) {
    const auto [place, is_new] = found_.try_emplace({shape.x, shape.z, tables});
    if (is_new) {
      place->second.transmit = find_windows(transmit_, grid_, shape, tables, team_);
      if (!once_) place->second.receive = find_windows(receive_, grid_, shape, tables, team_);
    }
    return place->second;
  }

 private:
  const SideInSamples& transmit_;
  const SideInSamples& receive_;
  const Grid& grid_;
  bool once_;
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
  // The half path cuts fractions to ten bits: half a last place more makes that rounding.
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
    // Sources that reach nothing look up the leading zeros and are outside of every A-scan, harmlessly.
    checked[tile] = a.first + b.first < 0 || a.second + b.second > static_cast<std::int64_t>(samples) - 2;
  }
  return checked;
}

std::vector<TileKind> candidates(const TilePlanRequest& request) {
  const SourceCounts sources = source_counts(request.options);
  const bool separate = sources.transmit != sources.receive;
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
  if (pairs == all_pairs(pairs.events, pairs.receivers)) return {PairOrder::ordered_full, 1.0F};
  if (pairs.events == pairs.receivers) {
    if (pairs == summed_pairs(pairs.events)) return {PairOrder::once, 1.0F};
    // One direction is as good as the other: looked up once, for both.
    if (pairs == pairs_both_ways(pairs.events)) {
      return alike ? OrderOfPairs{PairOrder::once, 2.0F} : OrderOfPairs{PairOrder::ordered_half, 1.0F};
    }
  }
  throw InputError("beamform stage, pairs", "rows in an order of their own", "every pair, or those of i <= j, in their order");
}

SourceCounts source_counts(const BeamformOptions& options) {
  return {static_cast<std::uint32_t>(options.pairs.events), static_cast<std::uint32_t>(options.pairs.receivers)};
}

void set_order(const TilePlanRequest& request, TilePlan& tiles) {
  const OrderOfPairs found = order_of(request.options.pairs, request.options.alike_both_ways());
  tiles.order = found.order;
  tiles.once_weight = found.once_weight;
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
  const bool once = tiles.order == PairOrder::once;
  const bool weighted = transmit.weighted() || receive.weighted() || has_invalid_times(law, grid, team);
  const SourceCounts sources = source_counts(options);
  WindowsBySize sizes(transmit, receive, grid, once, team);

  for (const TileKind kind : candidates(request)) {
    const TileShape shape = shape_of(kind);
    const bool tables = weighted || !transmit.analytic() || !receive.analytic() || kind == TileKind::gather;
    if (tile_shared_bytes(kind, !tables, request.half, sources, once) > request.shared_limit) continue;
    WindowsBySize::Both& windows = sizes.of(shape, tables);
    if (!fits(shape, windows.transmit, once ? windows.transmit : windows.receive, sources)) continue;
    tiles.transmit.windows = std::move(windows.transmit);
    tiles.receive.windows = std::move(windows.receive);
    const auto& other = once ? tiles.transmit.windows : tiles.receive.windows;
    set_shape(grid, kind, tiles);
    tiles.analytic = !tables;
    tiles.checked = find_checked(tiles.transmit.windows, other, sources, options.gate.count);
    KeptTables kept(tiles);
    const auto fill = [&](const SideInSamples& side, TileSideName name, TileSideTables& side_tables) {
      if (tables) {
        fill_tables(side, name, grid, shape, weighted, side_tables.windows, store != nullptr ? *store : kept, team);
      } else {
        fill_forms(side, grid, shape, request.half, side_tables, team);
      }
    };
    fill(transmit, TileSideName::transmit, tiles.transmit);
    if (!once) fill(receive, TileSideName::receive, tiles.receive);
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
  const std::size_t sources = transmit.sources() + (options.alike_both_ways() ? 0 : receive.sources());
  const std::size_t entries = tile_count(options.grid, shape_of(TileKind::large_narrow)) * sources;
  if (weighted || !transmit.analytic() || !receive.analytic()) {
    return entries * sizeof(SourceWindow) +
           options.grid.pixels() * sources * (sizeof(std::uint32_t) + (weighted ? sizeof(float) : 0));
  }
  return entries * (sizeof(SourceWindow) + sizeof(SourceForm) + (half ? 0 : sizeof(float)));
}

}  // namespace echoform::beamform
