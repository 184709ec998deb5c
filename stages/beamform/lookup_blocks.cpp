#include "stages/beamform/lookup_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/errors.hpp"

namespace echoform::beamform {
namespace {

using Runs = std::span<const PairRun>;

std::uint32_t count_of(const Runs& runs) {
  return static_cast<std::uint32_t>(runs.size());
}

/// Whether every source of one range is paired with every source of another: a rectangle, row by row.
bool rectangle(const Runs& runs) {
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const PairRun expected{runs[0].event + static_cast<std::uint32_t>(k), runs[0].receiver, runs[0].count,
                           runs[0].row + k * runs[0].count, runs[0].reversed};
    if (runs[k] != expected) return false;
  }
  return !runs.empty();
}

/// Whether i is paired with j >= i of one range: a triangle, row by row.
bool triangle(const Runs& runs) {
  std::size_t row = runs.empty() ? 0 : runs[0].row;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::uint32_t i = runs[0].event + static_cast<std::uint32_t>(k);
    const std::uint32_t count = count_of(runs) - static_cast<std::uint32_t>(k);
    if (runs[k] != PairRun{i, i, count, row, false}) return false;
    row += count;
  }
  return !runs.empty();
}

/// Whether `back` holds the lookups of the triangle `forward` with the directions exchanged, except those of a source with
/// itself.
bool triangle_back(const Runs& forward, const Runs& back) {
  if (back.size() + 1 != forward.size()) return false;
  for (std::size_t k = 0; k < back.size(); ++k) {
    const PairRun& run = forward[k];
    if (back[k] != PairRun{run.event, run.receiver + 1, run.count - 1, run.row + 1, true}) return false;
  }
  return true;
}

/// Whether `back` holds the lookups of the rectangle `forward` with the directions exchanged.
bool rectangle_back(const Runs& forward, const Runs& back) {
  return std::equal(forward.begin(), forward.end(), back.begin(), back.end(), [](PairRun run, const PairRun& other) {
    run.reversed = true;
    return run == other;
  });
}

}  // namespace

std::vector<LookupBlock> lookup_blocks(const PairRows& pairs, bool alike) {
  std::vector<PairRun> forward = pairs.lookups;
  const auto behind = std::stable_partition(forward.begin(), forward.end(), [](const PairRun& run) { return !run.reversed; });
  const std::vector<PairRun> back(behind, forward.end());
  forward.erase(behind, forward.end());
  if (triangle(forward) && (pairs.summed || forward.size() > 1)) {
    const SourceRange range{forward[0].event, count_of(forward)};
    if (pairs.summed && back.empty()) return {{range, range, forward[0].row, PairOrder::once, 1.0F, false}};
    if (!pairs.summed && triangle_back(forward, back)) {
      // Where the two directions are equivalent, one lookup serves both.
      return {{range, range, forward[0].row, alike ? PairOrder::once : PairOrder::ordered_half, alike ? 2.0F : 1.0F, false}};
    }
  }
  if (rectangle(forward)) {
    const LookupBlock block{{forward[0].event, count_of(forward)},
                            {forward[0].receiver, forward[0].count},
                            forward[0].row,
                            PairOrder::ordered_full,
                            1.0F,
                            false};
    if (back.empty()) return {block};
    if (rectangle_back(forward, back)) {
      LookupBlock other = block;
      other.reversed = true;
      return {block, other};
    }
  }
  if (back.empty() && !forward.empty()) {
    const auto count = [](std::size_t sources) { return static_cast<std::uint32_t>(sources); };
    return {{{0, count(pairs.events)}, {0, count(pairs.receivers)}, 0, PairOrder::listed, 1.0F, false}};
  }
  throw InputError("beamform stage, pairs", "rows in an order of their own, looked up both ways",
                   "every pair of some sources with some others, or those of i <= j, in their order");
}

ListedLookups list_lookups(const PairRows& rows, std::uint32_t pairs) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> by_group;
  for (const PairRun& run : rows.lookups) {
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const std::uint32_t receiver = run.receiver + k;
      auto& group = by_group[{run.event / pairs, receiver / pairs}];
      if (group.empty()) group.assign(std::size_t{pairs} * pairs, no_listed_row);
      std::uint32_t& row = group[run.event % pairs * pairs + receiver % pairs];
      if (row != no_listed_row) {
        throw InputError("beamform stage, pairs", fmt::format("two rows of event {} and receiver {}", run.event, receiver),
                         "one row for each pair");
      }
      row = static_cast<std::uint32_t>(run.row + k);
    }
  }
  ListedLookups listed;
  for (const auto& [place, group] : by_group) {
    listed.groups.insert(listed.groups.end(), {place.first, place.second});
    listed.rows.insert(listed.rows.end(), group.begin(), group.end());
  }
  return listed;
}

std::size_t most_listed_groups(const PairRows& rows, std::uint32_t pairs) {
  const auto groups = [pairs](std::size_t sources) { return (sources + pairs - 1) / pairs; };
  return std::min(rows.rows, groups(rows.events) * groups(rows.receivers));
}

bool whole(const std::vector<LookupBlock>& blocks, const PairRows& pairs) {
  if (blocks.size() != 1) return false;
  const LookupBlock& block = blocks.front();
  return block.outer.count == pairs.events && block.inner.count == pairs.receivers && block.row == 0;
}

TileSide part_of(const TileSide& side, const SourceRange& range, std::size_t pixels) {
  TileSide part = side;
  const auto advance = [&](auto*& table, std::size_t entries) {
    if (table != nullptr) table += range.first * entries;
  };
  advance(part.windows, 1);
  advance(part.forms, 1);
  advance(part.phases, 1);
  advance(part.delays, pixels);
  advance(part.weights, pixels);
  return part;
}

}  // namespace echoform::beamform
