#include "stages/scan_lines/line_tables.hpp"

#include <algorithm>
#include <cmath>

namespace echoform::scan_lines {
namespace {

// Where a lookup is certain to lie outside of every A-scan, and its sum with a way back does not overflow.
constexpr std::int32_t far_away = std::int32_t{1} << 29;

struct Vector {
  double x;
  double y;
  double z;
};
double dot(const Vector& a, const Vector& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

}  // namespace

std::size_t LineTables::bytes() const {
  return (range.size() + rest.size() + divisor.size()) * sizeof(float) + whole.size() * sizeof(std::int32_t) +
         receivers.size() * sizeof(PlacedReceiver) + first_receivers.size() * sizeof(std::size_t);
}

std::size_t line_tables_bytes(const LineSet& lines, std::size_t step) {
  const std::size_t ranges = padded(lines.ranges.count, step);
  return ranges * sizeof(float) + lines.lines.size() * ranges * (2 * sizeof(float) + sizeof(std::int32_t)) +
         lines.weight_tables.size() * sizeof(PlacedReceiver) + (lines.lines.size() + 1) * sizeof(std::size_t);
}

LineTables make_line_tables(const ScanLinesOptions& options, std::size_t step) {
  const LineSet& set = *options.lines;
  const std::size_t count = set.ranges.count;
  const std::size_t ranges = padded(count, step);
  const double rate = options.sample_rate.value;
  const double per_metre = rate / options.velocity.value;
  const double start = options.start_time.value * rate + static_cast<double>(options.gate.first);

  LineTables tables;
  tables.range.resize(ranges);
  for (std::size_t k = 0; k < ranges; ++k) tables.range[k] = static_cast<float>(set.ranges.at(k).value * per_metre);
  tables.whole.resize(set.lines.size() * ranges, far_away);
  tables.rest.resize(tables.whole.size());
  tables.divisor.resize(tables.whole.size());
  tables.first_receivers.push_back(0);
  std::vector<double> sums(count);
  std::size_t entry = 0;
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    const ImageLine& along = set.lines[line];
    for (std::size_t k = 0; k < count; ++k) {
      const double place = (set.transmit_times[line * count + k]) * rate + set.ranges.at(k).value * per_metre - start;
      const double whole = std::floor(place);
      if (!(std::abs(whole) < far_away)) continue;
      tables.whole[line * ranges + k] = static_cast<std::int32_t>(whole);
      tables.rest[line * ranges + k] = static_cast<float>(place - whole);
    }
    std::ranges::fill(sums, 0.0);
    const LineEvent& event = set.events[along.event];
    for (std::uint32_t row = 0; row < event.receivers.size(); ++row, ++entry) {
      const std::uint32_t table = set.weight_tables[entry];
      if (table == LineSet::unheard) continue;
      const Point& at = set.elements[event.receivers[row]];
      const Vector e{(at.x - along.origin.x).value * per_metre, (at.y - along.origin.y).value * per_metre,
                     (at.z - along.origin.z).value * per_metre};
      const Vector n{along.direction.x, along.direction.y, along.direction.z};
      const double a = dot(e, n);
      const double square = dot(e, e);
      tables.receivers.push_back(
          {row, table, static_cast<float>(a), static_cast<float>(square), static_cast<float>(std::max(0.0, square - a * a))});
      for (std::size_t k = 0; k < count; ++k) sums[k] += set.weights[table * count + k];
    }
    tables.first_receivers.push_back(tables.receivers.size());
    for (std::size_t k = 0; k < count; ++k) {
      const double divisor = options.normalise ? sums[k] : 1.0;
      tables.divisor[line * ranges + k] = sums[k] > 0.0 ? static_cast<float>(1.0 / divisor) : 0.0F;
    }
  }
  return tables;
}

}  // namespace echoform::scan_lines
