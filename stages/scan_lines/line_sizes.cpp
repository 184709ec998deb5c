#include "stages/scan_lines/line_sizes.hpp"

#include <algorithm>

#include "acquisition/pair_source.hpp"
#include "stages/block_checks.hpp"
#include "stages/raw_rows/frame_facts.hpp"
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
  if (input.type != ElementType::raw) return sizes;
  const std::size_t rows = heard_rows(set).rows.size();
  sizes.rows = float_rows(rows, input.columns).bytes() + facts_trailer + rows * sizeof(PairSource);
  sizes.facts = 2 * sizeof(GatheredFacts);
  if (options.time_gain != nullptr) sizes.gain = options.time_gain->size() * sizeof(float);
  return sizes;
}

}  // namespace echoform::gpu
