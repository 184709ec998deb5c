#include "stages/scan_lines/line_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/directions.hpp"
#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {
namespace {

// A lookup here is certain to lie outside of every A-scan, and its sum with a path back does not overflow.
constexpr std::int32_t far_away = std::int32_t{1} << 29;
// Sums of weights below this get the factor 0: their reciprocals may exceed single precision.
constexpr double least_sum = 1e-30;

/// A line in samples: the ranges, and the places where the samples of its points would be if the path back were r.
struct LinePlaces {
  std::vector<double> place;  // NaN where the wave does not arrive
  double first = 0.0;         // the first range; `spacing` is the distance to the next
  double spacing = 0.0;

  [[nodiscard]] double range(std::size_t k) const { return first + static_cast<double>(k) * spacing; }
};

/// Whether a block's places advance as LineTask::steady requires, whatever the receivers: when r grows by a step, r + |p - e|
/// grows by 0 to 2 steps.
bool moves_steadily(const LinePlaces& line, std::size_t from, std::size_t to) {
  constexpr double slack = 0.01;
  constexpr double most = 1.9;
  for (std::size_t k = from + 1; k < to; ++k) {
    const double step = line.place[k] - line.place[k - 1];
    if (!(step >= 2.0 * line.spacing - slack && step <= most - slack)) return false;
  }
  return true;
}

/// Whether the polynomial follows the path to a receiver, and all its samples exist.
bool is_followed(const LinePlaces& line, std::size_t from, std::size_t to, double along, double across_square, double samples) {
  const double begin = line.range(from);
  const double end = line.range(to - 1);
  const auto distance = [&](double r) { return std::sqrt((r - along) * (r - along) + across_square); };
  if (!(line.place[from] + distance(begin) - begin >= steady_margin)) return false;
  if (!(line.place[to - 1] + distance(end) - end <= samples - 1.0 - steady_margin)) return false;
  // The fifth derivative of a hyperbola is at most 10 / distance^4. The error of a polynomial through Chebyshev's five places is
  // at most that times h^5 / 1920.
  const double nearest = distance(std::clamp(along, begin, end));
  const double half = 0.5 * (end - begin);
  return 10.0 / 1920.0 * std::pow(half, 5) <= steady_error * std::pow(nearest, 4);
}

}  // namespace

std::size_t LineTables::bytes() const {
  return (range.size() + rest.size() + divisor.size() + turn_re.size() + turn_im.size()) * sizeof(float) +
         whole.size() * sizeof(std::int32_t) + receivers.size() * sizeof(PlacedReceiver) +
         first_receivers.size() * sizeof(std::size_t) + steady.size();
}

std::size_t line_tables_bytes(const ScanLinesOptions& options) {
  const LineSet& lines = *options.lines;
  const std::size_t ranges = padded(lines.ranges.count, range_step);
  return ranges * sizeof(float) +
         lines.lines.size() * ranges * ((options.demodulated ? 4 : 2) * sizeof(float) + sizeof(std::int32_t)) +
         lines.weight_tables.size() * sizeof(PlacedReceiver) + (lines.lines.size() + 1) * sizeof(std::size_t) +
         lines.lines.size() * ranges / range_step;
}

namespace {

/// Adds the rotation of phase over the path out and back along the line, in double precision: it is the same for all receivers.
void add_turns(const ScanLinesOptions& options, LineTables& tables) {
  const LineSet& set = *options.lines;
  const std::size_t count = set.ranges.count;
  const std::size_t ranges = padded(count, range_step);
  tables.turn_re.resize(tables.divisor.size());
  tables.turn_im.resize(tables.divisor.size());
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    for (std::size_t k = 0; k < count; ++k) {
      const double time = set.transmit_times[line * count + k] + set.ranges.at(k).value / options.velocity.value;
      const double cycles = options.demodulated->value * time;
      if (!std::isfinite(cycles)) continue;
      const double angle = 2.0 * std::numbers::pi * (cycles - std::floor(cycles));
      const double divisor = tables.divisor[line * ranges + k];
      tables.turn_re[line * ranges + k] = static_cast<float>(divisor * std::cos(angle));
      tables.turn_im[line * ranges + k] = static_cast<float>(divisor * std::sin(angle));
    }
  }
}

}  // namespace

LineTables make_line_tables(const ScanLinesOptions& options) {
  const LineSet& set = *options.lines;
  const std::size_t count = set.ranges.count;
  const std::size_t ranges = padded(count, range_step);
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
  tables.steady.reserve(set.lines.size() * ranges / range_step);
  LinePlaces places{std::vector<double>(count), set.ranges.first.value * per_metre, set.ranges.spacing.value * per_metre};
  std::vector<double> sums(count);
  std::size_t entry = 0;
  for (std::size_t line = 0; line < set.lines.size(); ++line) {
    const ImageLine& along = set.lines[line];
    for (std::size_t k = 0; k < count; ++k) {
      const double place = set.transmit_times[line * count + k] * rate + set.ranges.at(k).value * per_metre - start;
      places.place[k] = place;
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
      const Direction e = scaled(between(along.origin, at), per_metre);
      const double a = dot(e, along.direction);
      const double square = dot(e, e);
      tables.receivers.push_back(
          {row, table, static_cast<float>(a), static_cast<float>(square), static_cast<float>(std::max(0.0, square - a * a))});
      for (std::size_t k = 0; k < count; ++k) sums[k] += set.weights[table * count + k];
    }
    for (std::size_t from = 0; from < ranges; from += range_step) {
      const std::size_t to = from + range_step;
      const bool moves = to <= count && moves_steadily(places, from, to);
      const auto followed = [&](std::size_t begin, std::size_t end) {
        return std::all_of(tables.receivers.begin() + static_cast<std::ptrdiff_t>(tables.first_receivers.back()),
                           tables.receivers.end(), [&](const PlacedReceiver& receiver) {
                             return is_followed(places, begin, end, receiver.along, receiver.across_square,
                                                static_cast<double>(options.gate.count));
                           });
      };
      const std::size_t middle = from + range_step / 2;
      const bool whole = moves && followed(from, to);
      const bool halves = moves && !whole && followed(from, middle) && followed(middle, to);
      tables.steady.push_back(whole ? steady_as_a_whole : halves ? steady_by_halves : 0);
    }
    tables.first_receivers.push_back(tables.receivers.size());
    for (std::size_t k = 0; k < count; ++k) {
      const double divisor = options.normalise ? sums[k] : 1.0;
      tables.divisor[line * ranges + k] = sums[k] >= least_sum ? static_cast<float>(1.0 / divisor) : 0.0F;
    }
  }
  if (options.demodulated) add_turns(options, tables);
  return tables;
}

}  // namespace echoform::scan_lines
