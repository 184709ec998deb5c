#include "acquisition/pair_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

std::uint32_t index_of(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

PairRows each_pair_once(std::size_t elements) {
  PairRows pairs{elements, elements, elements * (elements + 1) / 2, false, {}};
  for (std::size_t i = 0; i < elements; ++i) {
    pairs.lookups.push_back({index_of(i), index_of(i), index_of(elements - i), half_matrix_index(i, i, elements), false});
  }
  return pairs;
}

/// Receivers that record `event` of an acquisition that lists its events, in ascending order.
std::vector<std::uint32_t> receivers_of(const Acquisition& acquisition, std::size_t event) {
  std::vector<std::uint32_t> receivers = acquisition.events[event].receivers;
  std::ranges::sort(receivers);
  if (!receivers.empty()) return receivers;
  for (std::uint32_t element = 0; element < acquisition.elements(); ++element) receivers.push_back(element);
  return receivers;
}

/// Adds a row for each receiver of an event. Receivers are in ascending order.
void add_rows(PairRows& pairs, std::size_t event, std::span<const std::uint32_t> receivers) {
  for (const std::uint32_t receiver : receivers) add_lookup(pairs.lookups, index_of(event), receiver, pairs.rows++);
}

/// Rows that sum both directions of two elements. They cover the pairs of which at least one direction was received.
PairRows received_sums(const Acquisition& acquisition) {
  const std::size_t elements = acquisition.elements();
  std::vector<std::vector<std::uint32_t>> partners(elements);  // indexed by the lower element of a pair
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    const std::uint32_t firing = index_of(*firing_element(acquisition, event));
    for (const std::uint32_t receiver : receivers_of(acquisition, event)) {
      partners[std::min(firing, receiver)].push_back(std::max(firing, receiver));
    }
  }
  PairRows pairs{elements, elements, 0, true, {}};
  for (std::size_t i = 0; i < elements; ++i) {
    std::ranges::sort(partners[i]);
    partners[i].erase(std::unique(partners[i].begin(), partners[i].end()), partners[i].end());
    add_rows(pairs, i, partners[i]);
  }
  return pairs;
}

/// The pairs that a frame holds, and which of them are dead.
class ReceivedPairs {
 public:
  explicit ReceivedPairs(const Acquisition& acquisition)
      : elements_(acquisition.probe.elements),
        layout_(acquisition),
        from_diagonal_(acquisition.pairs_once()),
        event_of_(elements_.size()),
        listed_(acquisition.event_count()) {
    for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
      firing_.push_back(firing_element(acquisition, event));
      if (firing_.back()) event_of_[*firing_.back()] = event;
      if (acquisition.events.empty()) continue;
      std::size_t row = layout_.shot(event).first;
      for (const std::uint32_t receiver : acquisition.events[event].receivers) listed_[event].emplace_back(receiver, row++);
      std::ranges::sort(listed_[event]);
    }
  }

  /// The source of one direction as it was received. It is empty where the frame has no such row, or a dead element takes part.
  [[nodiscard]] PairSource one(std::size_t event, std::size_t receiver, float weight) const {
    const auto row = row_of(event, receiver);
    return row ? PairSource{*row, *row, weight} : PairSource{};
  }
  /// The source of the sum of both directions of a pair of elements, as far as they were received.
  [[nodiscard]] PairSource sum(std::size_t i, std::size_t j) const {
    const auto forward = event_of_[i] ? row_of(*event_of_[i], j) : std::nullopt;
    const auto backward = event_of_[j] ? row_of(*event_of_[j], i) : std::nullopt;
    if (!forward && !backward) return {};
    return {forward ? *forward : *backward, backward ? *backward : *forward, 1.0F};
  }

 private:
  [[nodiscard]] std::optional<std::size_t> row_of(std::size_t event, std::size_t receiver) const {
    const std::optional<std::size_t>& firing = firing_[event];
    if (elements_[receiver].dead || (firing && elements_[*firing].dead)) return std::nullopt;
    const std::vector<ReceiverRow>& listed = listed_[event];
    if (listed.empty()) {
      const std::size_t first = from_diagonal_ ? event : 0;
      if (receiver < first) return std::nullopt;
      return layout_.shot(event).first + receiver - first;
    }
    const auto found = std::ranges::lower_bound(listed, receiver, {}, &ReceiverRow::first);
    if (found == listed.end() || found->first != receiver) return std::nullopt;
    return found->second;
  }

  using ReceiverRow = std::pair<std::size_t, std::size_t>;

  const std::vector<Element>& elements_;
  FrameLayout layout_;
  bool from_diagonal_;                                // event i is recorded by the elements from i on
  std::vector<std::optional<std::size_t>> firing_;    // [event], the element that fires
  std::vector<std::optional<std::size_t>> event_of_;  // [element], the event in which it fires alone
  std::vector<std::vector<ReceiverRow>> listed_;      // [event], ascending; empty where all elements record the event
};

/// Weight of a pair of two elements: 2 where one direction stands for the sum of both, 0.5 where the sum stands for one.
float weight_of_pair(const Acquisition& acquisition, const PairRows& pairs) {
  if (!acquisition.pairs_once() || acquisition.pairs_summed() == pairs.summed) return 1.0F;
  return pairs.summed ? 2.0F : 0.5F;
}

}  // namespace

bool PairRows::any_reversed() const {
  return std::ranges::any_of(lookups, [](const PairRun& run) { return run.reversed; });
}

PairRows all_pairs(std::size_t events, std::size_t receivers) {
  PairRows pairs{events, receivers, events * receivers, false, {}};
  for (std::size_t event = 0; event < events; ++event) {
    pairs.lookups.push_back({index_of(event), 0, index_of(receivers), event * receivers, false});
  }
  return pairs;
}

void add_lookup(std::vector<PairRun>& lookups, std::uint32_t event, std::uint32_t receiver, std::size_t row) {
  if (!lookups.empty()) {
    PairRun& last = lookups.back();
    if (last.event == event && last.receiver + last.count == receiver && last.row + last.count == row && !last.reversed) {
      ++last.count;
      return;
    }
  }
  lookups.push_back({event, receiver, 1, row, false});
}

bool few_are_received(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  if (all_elements_record(acquisition) || acquisition.pairs_once() || coded(acquisition)) return false;
  const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, chosen);
  std::size_t received = 0;
  for (const std::uint32_t event : events) {
    const std::size_t count = acquisition.events[event].receivers.size();
    received += count == 0 ? acquisition.elements() : count;
  }
  return 2 * received <= events.size() * acquisition.elements();
}

PairRows received_pairs(const Acquisition& acquisition, std::span<const std::uint32_t> chosen) {
  const std::vector<std::uint32_t> events = chosen_or_all_events(acquisition, chosen);
  PairRows pairs{events.size(), acquisition.elements(), 0, false, {}};
  for (std::size_t k = 0; k < events.size(); ++k) add_rows(pairs, k, receivers_of(acquisition, events[k]));
  return pairs;
}

PairRows summed_pairs(std::size_t elements) {
  PairRows pairs = each_pair_once(elements);
  pairs.summed = true;
  return pairs;
}

PairRows pairs_both_ways(std::size_t elements) {
  PairRows pairs = each_pair_once(elements);
  const std::vector<PairRun> forward = std::move(pairs.lookups);
  pairs.lookups.clear();
  for (const PairRun& run : forward) {
    pairs.lookups.push_back(run);
    // An element paired with itself has one direction.
    if (run.count > 1) pairs.lookups.push_back({run.event, run.receiver + 1, run.count - 1, run.row + 1, true});
  }
  return pairs;
}

void validate(const PairRows& pairs, const char* where) {
  for (const PairRun& run : pairs.lookups) {
    const std::size_t others = run.reversed ? pairs.events : pairs.receivers;
    const std::size_t own = run.reversed ? pairs.receivers : pairs.events;
    if (run.event < own && run.count <= others && run.receiver <= others - run.count && run.count <= pairs.rows &&
        run.row <= pairs.rows - run.count) {
      continue;
    }
    throw InputError(
        fmt::format("{} pairs", where),
        fmt::format("event {} with {} receivers from {} on, in rows from {} on", run.event, run.count, run.receiver, run.row),
        fmt::format("{} events, {} receivers and {} rows", pairs.events, pairs.receivers, pairs.rows));
  }
}

PairRows combined_rows(const Acquisition& acquisition, bool reciprocal, std::span<const std::uint32_t> chosen) {
  const std::size_t elements = acquisition.elements();
  if (few_are_received(acquisition, chosen)) {
    return reciprocal && chosen.empty() ? received_sums(acquisition) : received_pairs(acquisition, chosen);
  }
  if (!chosen.empty()) return all_pairs(chosen.size(), elements);
  const std::size_t events = acquisition.event_count();
  if (reciprocal) {
    // When at least half of the elements fire, sums take fewer lookups than the received rows, though some sums are empty.
    PairRows sums = summed_pairs(elements);
    if (events == elements || sums.rows < events * elements) return sums;
  }
  if (acquisition.pairs_once()) return pairs_both_ways(elements);
  return all_pairs(events, elements);
}

CombinedPairs combine_pairs(const Acquisition& acquisition, bool reciprocal, std::span<const std::uint32_t> chosen) {
  CombinedPairs combined{combined_rows(acquisition, reciprocal, chosen), {}};
  const PairRows& pairs = combined.pairs;
  const ReceivedPairs received(acquisition);
  const bool both_received = pairs.summed && !acquisition.pairs_once();
  const float weight = weight_of_pair(acquisition, pairs);
  combined.sources.resize(pairs.rows);
  for (const PairRun& run : pairs.lookups) {
    if (run.reversed) continue;
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const std::size_t receiver = run.receiver + k;
      PairSource& source = combined.sources[run.row + k];
      if (!chosen.empty()) {
        source = received.one(chosen[run.event], receiver, 1.0F);
      } else if (both_received) {
        source = received.sum(run.event, receiver);
      } else {
        source = received.one(run.event, receiver, receiver == run.event ? 1.0F : weight);
      }
    }
  }
  return combined;
}

}  // namespace echoform
