#include "stages/scan_lines/line_sizes.hpp"

#include <algorithm>

#include "acquisition/pair_source.hpp"
#include "stages/adaptive_weights/channel_sizes.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/analytic_signal/analytic_signal_memory.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/frame_facts.hpp"
#include "stages/scan_lines/adaptive_lines.hpp"
#include "stages/scan_lines/line_kernels.hpp"
#include "stages/scan_lines/line_tables.hpp"

namespace echoform::gpu {

HeardRows heard_rows(const LineSet& set) {
  HeardRows heard;
  std::vector<std::size_t> first(set.events.size(), 0);
  std::vector<bool> there(set.events.size(), false);
  for (const ImageLine& line : set.lines) there[line.event] = true;
  for (std::size_t event = 0; event < set.events.size(); ++event) {
    if (!there[event]) continue;
    first[event] = heard.rows.size();
    for (std::size_t row = 0; row < set.events[event].receivers.size(); ++row) {
      heard.rows.push_back(set.events[event].first_row + row);
    }
  }
  for (const ImageLine& line : set.lines) heard.first_of_line.push_back(static_cast<std::uint32_t>(first[line.event]));
  return heard;
}

BlockSpec float_rows(std::size_t rows, std::size_t samples) {
  BlockSpec spec;
  spec.type = ElementType::float32;
  spec.rows = rows;
  spec.columns = samples;
  spec.row_stride = padded_columns(samples);
  return spec;
}

namespace {

/// The maximum number of bytes that a plan of tiles (line_tile_plan.hpp) holds.
std::size_t tile_bytes(const LineSet& set, std::size_t rows) {
  constexpr std::size_t word = 4;
  const std::size_t ranges = set.ranges.count;
  const std::size_t tiles = (ranges + least_tile_ranges - 1) / least_tile_ranges;
  // A tile needs its place and a polynomial for each of its four warps.
  const std::size_t of_line = 7 * word + tiles * (1 + 4 * 8) * word + scan_lines::padded(ranges, scan_lines::range_step) * word;
  const std::size_t of_row = (2 * tiles + 1) * word + 2 * tiles * 3 * word;
  return set.lines.size() * of_line + set.weight_tables.size() * 5 * word + set.weights.size() / ranges * tiles * word +
         rows * of_row + 16 * word;
}

/// Bytes for weights that follow from sums, or need the channels.
std::size_t adaptive_bytes(const ScanLinesOptions& options, const BlockSpec& input, std::size_t heard_rows) {
  const AdaptiveKind& kind = adaptive_kind(options.adaptive.kind, "scan-lines stage");
  const LineSet& set = *options.lines;
  if (kind.sums_of == ChannelSums::none) return 0;
  if (kind.of_sums != nullptr) {
    const std::size_t pitch = scan_lines::padded(set.ranges.count, scan_lines::range_step);
    const std::size_t of_point = kind.sums_of == ChannelSums::low_frequencies ? 3 : 2;
    return scan_lines::adaptive_tables_bytes(kind.sums_of, set, pitch) + of_point * set.lines.size() * pitch * sizeof(float);
  }
  const std::size_t floats = kind.analytic ? 2 : 1;
  const std::size_t bytes =
      channel_sizes(options.adaptive, set.lines.size(), set.ranges.count, most_receivers(set), floats).bytes();
  if (!kind.analytic) return bytes;
  BlockSpec rows = input.type == ElementType::raw ? float_rows(heard_rows, input.columns) : input;
  rows.lead = 0;
  const AnalyticSignalOptions analytic;
  return bytes + analytic_signal_output(analytic, rows, BackendKind::cuda).bytes() +
         analytic_signal_memory_on_cuda(analytic, rows).device;
}

}  // namespace

std::size_t most_receivers(const LineSet& set) {
  std::size_t most = 0;
  for (const ImageLine& line : set.lines) most = std::max(most, set.events[line.event].receivers.size());
  return most;
}

LineSizes line_sizes(const ScanLinesOptions& options, const BlockSpec& input) {
  const LineSet& set = *options.lines;
  const std::size_t pitch = scan_lines::padded(set.ranges.count, scan_lines::range_step);
  const std::size_t points = set.lines.size() * pitch;
  const auto receivers = static_cast<std::size_t>(
      std::ranges::count_if(set.weight_tables, [](std::uint32_t table) { return table != LineSet::unheard; }));
  LineSizes sizes;
  sizes.tables = pitch * sizeof(float) + points * ((options.demodulated ? 3 : 2) * sizeof(float) + sizeof(std::int32_t)) +
                 receivers * sizeof(scan_lines::PlacedReceiver) + (2 * set.lines.size() + 1) * sizeof(std::uint32_t) +
                 set.weights.size() * sizeof(float) + sizeof(scan_lines::TapTable);
  const std::size_t rows = heard_rows(set).rows.size();
  const ChannelSums sums = adaptive_kind(options.adaptive.kind, "scan-lines stage").sums_of;
  if (sums == ChannelSums::none && !options.demodulated) sizes.tiles = tile_bytes(set, rows);
  sizes.adaptive = adaptive_bytes(options, input, rows);
  if (input.type != ElementType::raw) return sizes;
  sizes.rows = float_rows(rows, input.columns).bytes() + facts_trailer + rows * sizeof(PairSource);
  sizes.facts = 2 * sizeof(GatheredFacts);
  if (options.time_gain != nullptr) sizes.gain = options.time_gain->size() * sizeof(float);
  return sizes;
}

}  // namespace echoform::gpu
