#include "methods/beams/blending.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace echoform {
namespace {

// Part of the distance between events: a line that lies nearer than this to an event's own place belongs to that event alone.
constexpr double own_place = 1e-9;

struct EventShare {
  std::size_t event;
  double share;
};

/// Shares of the events along an axis in line number `line` of `lines`.
std::vector<EventShare> shares_of(std::size_t line, std::size_t lines, std::size_t of_event) {
  const auto count = static_cast<double>(of_event);
  const auto last = static_cast<double>(lines / of_event - 1);
  // In this unit event e itself lies at e.
  const double place = std::clamp((static_cast<double>(line) - 0.5 * (count - 1.0)) / count, 0.0, last);
  const double before = std::floor(place + own_place);
  const double share = std::max(0.0, place - before);
  const auto event = static_cast<std::size_t>(before);
  if (!(share > own_place)) return {{event, 1.0}};
  return {{event, 1.0 - share}, {event + 1, share}};
}

}  // namespace

BlendedLines blend_lines(const FannedLines& fanned, const LinesOfEvent& of_event) {
  const std::size_t columns = fanned.fan.azimuths();
  const std::size_t rows = fanned.fan.elevations;
  BlendedLines blended;
  blended.shares.resize(fanned.lines.size());
  for (std::size_t line = 0; line < fanned.lines.size(); ++line) {
    for (const EventShare& across : shares_of(line / columns, rows, of_event.elevations)) {
      for (const EventShare& along : shares_of(line % columns, columns, of_event.azimuths)) {
        const std::size_t event = across.event * of_event.elevations * columns + along.event * of_event.azimuths;
        blended.shares[line].push_back({blended.components.size(), across.share * along.share});
        blended.components.push_back(fanned.lines[line]);
        blended.components.back().event = fanned.lines[event].event;
      }
    }
  }
  return blended;
}

std::shared_ptr<const LineBlendTable> blend_table(const BlendedLines& lines, std::size_t ranges,
                                                  std::span<const double> transmit_times, const LineGain& gain) {
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = ranges;
  // Lines at the same place between their events have the same weights where both events reach everywhere.
  std::map<std::vector<float>, std::uint32_t> known;
  for (std::size_t line = 0; line < lines.shares.size(); ++line) {
    const std::vector<LineShare>& shares = lines.shares[line];
    std::vector<BlendTerm>& terms = table->lines.emplace_back();
    std::vector<double> sums(ranges);
    const auto reaches = [&](const LineShare& share, std::size_t k) {
      return !std::isnan(transmit_times[share.component * ranges + k]);
    };
    for (const LineShare& share : shares) {
      for (std::size_t k = 0; k < ranges; ++k) sums[k] += reaches(share, k) ? share.share : 0.0;
    }
    for (const LineShare& share : shares) {
      std::vector<float> weights(ranges);
      for (std::size_t k = 0; k < ranges; ++k) {
        weights[k] = reaches(share, k) ? static_cast<float>(share.share / sums[k] * (gain ? gain(line, k) : 1.0)) : 0.0F;
      }
      const auto [entry, fresh] = known.emplace(weights, static_cast<std::uint32_t>(known.size()));
      if (fresh) table->weights.insert(table->weights.end(), weights.begin(), weights.end());
      terms.push_back({static_cast<std::uint32_t>(share.component), entry->second});
    }
  }
  return table;
}

}  // namespace echoform
