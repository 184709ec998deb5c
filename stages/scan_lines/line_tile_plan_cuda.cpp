#include "stages/scan_lines/line_tile_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/cuda_backend.hpp"
#include "gpu/stream.hpp"
#include "stages/scan_lines/delay_filter.hpp"
#include "stages/scan_lines/line_sizes.hpp"
#include "stages/scan_lines/line_tables.hpp"

namespace echoform::gpu {
namespace {

/// The numbers of ranges of a tile that are tried decrease from most_tile_ranges in steps of this size.
constexpr std::uint32_t tile_step = 32;
/// The minimum for elements on the line itself, which avoids the root of 0.
constexpr float least_across = 1e-12F;
/// Maximum deviation of a polynomial from the rests that it represents, in samples.
constexpr double most_rest_error = 5e-6;
/// A place outside of every A-scan; LineTables::whole is outside of every A-scan then too.
constexpr float nowhere = 1e30F;

/// Number of samples of a window before its own first sample.
std::int32_t halo_of(const LineTiles& tiles) {
  return tiles.taps == 0 ? 0 : static_cast<std::int32_t>(tile_halo);
}

}  // namespace

template <class T>
T* LineTilePlan::keep(std::vector<Buffer>& where, const std::vector<T>& values) {
  where.push_back(backend_.allocate(std::max<std::size_t>(1, values.size()) * sizeof(T), MemoryUse::working));
  if (!values.empty()) copy_now(where.back().data(), values.data(), values.size() * sizeof(T));
  return static_cast<T*>(where.back().data());
}

bool LineTilePlan::make(const ScanLinesOptions& options, const LineSetOnDevice& set, const scan_lines::LineTables& tables,
                        const TiledRows& rows) {
  held_.clear();
  of_tiles_.clear();
  events_.clear();
  const DelayFilter filter = make_delay_filter(options.filter);
  const bool linear = filter.taps == 2 && filter.phases == 1;
  const bool upsampled = filter.upsampling && (filter.taps == 8 || filter.taps == 12 || filter.taps == 16);
  const std::size_t aligned = rows.whole_numbers ? 8 : 16;
  if (options.demodulated || !(linear || upsampled) || rows.row_bytes % aligned != 0 ||
      static_cast<std::size_t>(rows.samples) > most_tiled_samples) {
    return false;
  }
  whole_numbers_ = rows.whole_numbers;
  tiles_ = {};
  tiles_.row_bytes = rows.row_bytes;
  tiles_.samples = rows.samples;
  tiles_.ranges = set.ranges;
  tiles_.pitch = set.pitch;
  tiles_.range = set.range;
  tiles_.spacing = static_cast<float>(options.lines->ranges.spacing.value * options.sample_rate.value / options.velocity.value);
  tiles_.weights = set.weights;
  tiles_.divisor = set.turn_re;
  if (upsampled) {
    tiles_.fineness = 4;
    tiles_.taps = static_cast<std::uint32_t>(filter.taps);
    for (std::size_t phase = 0; phase < 3; ++phase) std::ranges::copy(filter.row(phase + 1), tiles_.phases[phase]);
    // The kernel leaves these two coefficients out.
    if (tiles_.phases[0][filter.taps - 1] != 0.0F || tiles_.phases[2][0] != 0.0F) return false;
  }
  tiles_.address_bias = whole_magic_address(tiles_.taps);
  list_events(options, tables, rows);
  const bool found = find_tiles(options, tables);
  if (!found) {
    held_.clear();
    of_tiles_.clear();
  }
  return found;
}

void LineTilePlan::list_events(const ScanLinesOptions& options, const scan_lines::LineTables& tables, const TiledRows& rows) {
  const LineSet& set = *options.lines;
  std::vector<std::vector<std::uint32_t>> lines_of(set.events.size());
  for (std::uint32_t line = 0; line < set.lines.size(); ++line) lines_of[set.lines[line].event].push_back(line);
  std::vector<std::uint32_t> lines;
  std::vector<TilePlace> places;
  std::vector<std::uint32_t> weight_tables;
  heard_ = 0;
  const auto scale = static_cast<float>(tiles_.fineness);
  for (std::size_t event = 0; event < set.events.size(); ++event) {
    if (lines_of[event].empty()) continue;
    const auto count = static_cast<std::uint32_t>(set.events[event].receivers.size());
    TileEvent tile_event;
    tile_event.first_row = rows.first_rows[lines_of[event].front()];
    tile_event.rows = count;
    tile_event.first_line = static_cast<std::uint32_t>(lines.size());
    tile_event.lines = static_cast<std::uint32_t>(lines_of[event].size());
    tile_event.first_heard = static_cast<std::uint32_t>(heard_);
    tile_event.first_place = static_cast<std::uint32_t>(places.size());
    events_.push_back(tile_event);
    heard_ += count;
    tiles_.most_rows = std::max(tiles_.most_rows, count);
    tiles_.most_lines = std::max(tiles_.most_lines, tile_event.lines);
    for (const std::uint32_t line : lines_of[event]) {
      lines.push_back(line);
      const std::size_t first = places.size();
      places.resize(first + count);
      weight_tables.resize(first + count, unheard_place);
      for (std::size_t k = tables.first_receivers[line]; k < tables.first_receivers[line + 1]; ++k) {
        const scan_lines::PlacedReceiver& receiver = tables.receivers[k];
        places[first + receiver.row] = {receiver.along, std::max(receiver.across_square, least_across),
                                        -2.0F * scale * receiver.along, scale * receiver.square};
        weight_tables[first + receiver.row] = receiver.weights;
      }
    }
  }
  tiles_.events = static_cast<std::uint32_t>(events_.size());
  tiles_.event = keep(held_, events_);
  tiles_.lines = keep(held_, lines);
  tiles_.places = keep(held_, places);
  tiles_.weight_tables = keep(held_, weight_tables);
}

bool LineTilePlan::find_tiles(const ScanLinesOptions& options, const scan_lines::LineTables& tables) {
  // Takes as many ranges as windows allow, evenly, so that the last tile is as full as the others.
  for (std::uint32_t most = most_tile_ranges; most >= least_tile_ranges; most -= tile_step) {
    tiles_.tiles = (tiles_.ranges + most - 1) / most;
    tiles_.tile_ranges = (tiles_.ranges + tiles_.tiles - 1) / tiles_.tiles;
    place_tiles(options, tables);
    const std::vector<std::int32_t> windows = find_windows();
    if (windows.empty()) continue;
    share_samples(windows);
    return whole_numbers_ ? prepare_int16_tiles(tiles_) : prepare_float_tiles(tiles_);
  }
  return false;
}

void LineTilePlan::place_tiles(const ScanLinesOptions& options, const scan_lines::LineTables& tables) {
  of_tiles_.clear();
  const LineSet& set = *options.lines;
  const std::size_t count = set.ranges.count;
  const std::size_t weight_tables = set.weights.size() / count;
  std::vector<float> even(weight_tables * tiles_.tiles);
  std::vector<std::int32_t> from(set.lines.size() * tiles_.tiles, 0);
  std::vector<float> rest(set.lines.size() * tiles_.pitch, nowhere);
  std::vector<RestPolynomial> rests(set.lines.size() * tiles_.tiles * tile_warps, rest_polynomial({}, 0.0));
  std::vector<double> of_warp;
  for (std::uint32_t tile = 0; tile < tiles_.tiles; ++tile) {
    const std::size_t first = std::size_t{tile} * tiles_.tile_ranges;
    const std::size_t end = std::min(first + tiles_.tile_ranges, count);
    for (std::size_t table = 0; table < weight_tables; ++table) {
      const auto weights = std::span(set.weights).subspan(table * count + first, end - first);
      const bool same = std::ranges::all_of(weights, [&](float w) { return w == weights.front(); });
      even[table * tiles_.tiles + tile] = same ? weights.front() : std::numeric_limits<float>::quiet_NaN();
    }
    for (std::size_t line = 0; line < set.lines.size(); ++line) {
      const auto whole = std::span(tables.whole).subspan(line * tiles_.pitch + first, end - first);
      const auto there = [&](std::int32_t at) { return static_cast<std::size_t>(std::abs(at)) <= most_tiled_samples; };
      std::int32_t least = std::numeric_limits<std::int32_t>::max();
      std::int32_t most = std::numeric_limits<std::int32_t>::min();
      for (const std::int32_t at : whole) {
        if (!there(at)) continue;
        least = std::min(least, at);
        most = std::max(most, at);
      }
      if (least > most) continue;
      // Places count from their middle, where the resolution of single precision is finest.
      const std::int32_t middle = least + (most - least) / 2;
      from[line * tiles_.tiles + tile] = middle;
      const auto rest_at = [&](std::size_t k) {
        if (!there(whole[k])) return double{nowhere};
        return tiles_.fineness * (static_cast<double>(whole[k] - middle) + tables.rest[line * tiles_.pitch + first + k]);
      };
      for (std::size_t k = 0; k < whole.size(); ++k) rest[line * tiles_.pitch + first + k] = static_cast<float>(rest_at(k));
      for (unsigned warp = 0; warp < tile_warps; ++warp) {
        const WarpRanges ranges = ranges_of_warp(static_cast<unsigned>(whole.size()), warp);
        of_warp.resize(ranges.count);
        for (unsigned k = 0; k < ranges.count; ++k) of_warp[k] = rest_at(ranges.first + k);
        rests[(line * tiles_.tiles + tile) * tile_warps + warp] = rest_polynomial(of_warp, tiles_.fineness * most_rest_error);
      }
    }
  }
  tiles_.even_weights = keep(of_tiles_, even);
  tiles_.tile_places = keep(of_tiles_, from);
  tiles_.rest = keep(of_tiles_, rest);
  tiles_.rests = keep(of_tiles_, rests);
}

/// Returns an empty list if one of the windows is too long.
std::vector<std::int32_t> LineTilePlan::find_windows() {
  std::vector<std::int32_t> windows(heard_ * tiles_.tiles, 0);
  std::vector<std::int32_t> most(1, 0);
  tiles_.windows = keep(of_tiles_, windows);
  tiles_.most_window = keep(of_tiles_, most);
  const Stream stream = make_stream();
  launch_line_windows(tiles_, stream.get());
  ECHOFORM_CUDA(cudaStreamSynchronize(stream.get()));
  copy_now(most.data(), tiles_.most_window, sizeof(std::int32_t));
  if (most[0] > static_cast<std::int32_t>(tile_window)) return {};
  copy_now(windows.data(), tiles_.windows, windows.size() * sizeof(std::int32_t));
  return windows;
}

void LineTilePlan::share_samples(const std::vector<std::int32_t>& windows) {
  std::vector<std::int32_t> bounds(heard_ * (tiles_.tiles + 1), 0);
  std::vector<RowSegment> segments;
  for (const TileEvent& event : events_) {
    for (std::uint32_t row = 0; row < event.rows; ++row) {
      const auto window_of = [&](std::uint32_t tile) {
        return windows[std::size_t{event.first_heard} * tiles_.tiles + tile * event.rows + row];
      };
      const auto bound_of = [&](std::uint32_t tile) -> std::int32_t& {
        return bounds[std::size_t{event.first_heard} * (tiles_.tiles + 1) + tile * event.rows + row];
      };
      for (std::uint32_t tile = 1; tile < tiles_.tiles; ++tile) {
        const std::int32_t window = window_of(tile);
        bound_of(tile) = std::max(bound_of(tile - 1), (window & window_is_used) != 0 ? window / 4 * 4 : 0);
      }
      bound_of(tiles_.tiles) = tiles_.samples;
      for (std::uint32_t tile = 0; tile < tiles_.tiles; ++tile) {
        const std::int32_t window = window_of(tile);
        const std::int32_t begin = bound_of(tile);
        const std::int32_t end = bound_of(tile + 1);
        const bool used = (window & window_is_used) != 0;
        const std::int32_t brought = used ? std::max(0, window / 4 * 4 - halo_of(tiles_)) : end;
        const std::int32_t behind = used ? window / 4 * 4 + static_cast<std::int32_t>(counted_samples(tiles_.taps)) : end;
        if (begin < std::min(end, brought)) segments.push_back({event.first_row + row, begin, std::min(end, brought)});
        if (std::max(begin, behind) < end) segments.push_back({event.first_row + row, std::max(begin, behind), end});
      }
    }
  }
  tiles_.bounds = keep(of_tiles_, bounds);
  if (!whole_numbers_) segments.clear();
  tiles_.segments = keep(of_tiles_, segments);
  tiles_.segment_count = static_cast<std::uint32_t>(segments.size());
}

void LineTilePlan::launch(const LineTiles& tiles, cudaStream_t stream) const noexcept {
  if (whole_numbers_) {
    launch_int16_tiles(tiles, stream);
  } else {
    launch_float_tiles(tiles, stream);
  }
}

std::size_t LineTilePlan::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Buffer& buffer : held_) bytes += buffer.size();
  for (const Buffer& buffer : of_tiles_) bytes += buffer.size();
  return bytes;
}

}  // namespace echoform::gpu
