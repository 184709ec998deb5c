#include "acquisition/pair_groups.hpp"

#include <algorithm>
#include <utility>

#include "acquisition/acquisition.hpp"
#include "acquisition/firings.hpp"

namespace echoform {
namespace {

// Largest number of elements of a range, and of pairs in a group of events. Groups of 16 x 16 elements, or of 8 events with 128
// receivers, take some tens of megabytes at 4096 samples. Their reading, transforms and sums take far longer than beginning a
// group.
constexpr std::size_t most_together = 16;
constexpr std::size_t pairs_of_events = 1024;

std::uint32_t run_index(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

/// Length of the ranges; the ranges have equal lengths within one.
std::size_t even_step(std::size_t count, std::size_t most) {
  const std::size_t parts = (count + most - 1) / most;
  return (count + parts - 1) / parts;
}

std::size_t a_scans_of(const PairGroup& group) {
  std::size_t count = 0;
  for (const RowRange& range : group.rows) count += range.count;
  return count;
}

}  // namespace

void add_rows(std::vector<RowRange>& rows, const RowRange& more) {
  if (more.count == 0) return;
  if (!rows.empty() && rows.back().first + rows.back().count == more.first) {
    rows.back().count += more.count;
  } else {
    rows.push_back(more);
  }
}

PairGroups::PairGroups(const Acquisition& acquisition, bool reciprocal, std::span<const std::uint32_t> chosen)
    : layout_(acquisition),
      events_(chosen_or_all_events(acquisition, chosen)),
      by_elements_(acquisition.events.empty() && chosen.empty() && (reciprocal || acquisition.pairs_once())),
      few_(few_are_received(acquisition, chosen)),
      once_(acquisition.pairs_once()),
      added_(by_elements_ && reciprocal) {
  for (const Element& element : acquisition.probe.elements) dead_.push_back(element.dead);
  for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
    const auto firing = firing_element(acquisition, event);
    silent_.push_back(firing && dead_[*firing]);
  }
  for (const std::uint32_t event : events_) {
    receivers_.push_back(acquisition.events.empty() ? std::vector<std::uint32_t>() : acquisition.events[event].receivers);
  }
  const std::size_t elements = acquisition.elements();
  if (by_elements_) {
    // A received direction stands for both directions, or a received A-scan is the sum of both.
    if (once_ && acquisition.pairs_summed() != added_) weight_ = added_ ? 2.0F : 0.5F;
    step_ = even_step(elements, most_together);
    parts_ = (elements + step_ - 1) / step_;
    rows_ = parts_ > 1 ? step_ * step_ : step_ * (step_ + 1) / 2;
  } else {
    cut_events(elements);
  }
  for (std::size_t group = 0; group < count(); ++group) most_a_scans_ = std::max(most_a_scans_, a_scans_of(at(group)));
}

void PairGroups::cut_events(std::size_t elements) {
  if (!few_) {
    const std::size_t step = even_step(events_.size(), std::clamp<std::size_t>(pairs_of_events / elements, 1, most_together));
    for (std::size_t k = step; k < events_.size(); k += step) first_events_.push_back(k);
    first_events_.push_back(events_.size());
    rows_ = step * elements;
    return;
  }
  std::size_t pairs = 0;  // pairs of the group
  for (std::size_t k = 0; k < events_.size(); ++k) {
    const std::size_t of_event = layout_.shot(events_[k]).count;
    if (pairs > 0 && pairs + of_event > pairs_of_events) {
      first_events_.push_back(k);
      pairs = 0;
    }
    pairs += of_event;
    rows_ = std::max(rows_, pairs);
  }
  first_events_.push_back(events_.size());
}

std::size_t PairGroups::count() const noexcept {
  return by_elements_ ? parts_ * (parts_ + 1) / 2 : first_events_.size() - 1;
}

PairGroups::Elements PairGroups::part(std::size_t place) const {
  return {place * step_, std::min((place + 1) * step_, dead_.size())};
}

PairGroup PairGroups::at(std::size_t group) const {
  if (!by_elements_) return of_events(first_events_[group], first_events_[group + 1]);
  std::size_t one = 0;
  while (group >= parts_ - one) group -= parts_ - one++;
  return of_elements(part(one), part(one + group));
}

PairSource PairGroups::source(std::size_t event, std::size_t receiver, std::size_t first, std::size_t second,
                              float weight) const {
  if (silent_[event] || dead_[receiver]) return {};
  return {first, second, weight};
}

PairGroup PairGroups::of_elements(const Elements& ones, const Elements& others) const {
  const std::size_t elements = dead_.size();
  const bool same = ones.first == others.first;
  PairGroup group;
  group.pairs = {elements, elements, rows_, added_, {}};
  const auto begin_of = [&](std::size_t i) { return same ? i : others.first; };
  for (std::size_t i = ones.first; i < ones.last; ++i) {
    const std::size_t begin = once_ ? begin_of(i) : others.first;
    add_rows(group.rows, {*layout_.row_of(i, begin), others.last - begin});
  }
  for (std::size_t j = others.first; j < others.last && !once_ && !same; ++j) {
    add_rows(group.rows, {*layout_.row_of(j, ones.first), ones.count()});
  }

  std::size_t received = 0;  // A-scan of the group, where a pair has one
  for (std::size_t i = ones.first; i < ones.last; ++i) {
    const std::size_t begin = begin_of(i);
    const auto row = group.sources.size();
    for (std::size_t j = begin; j < others.last; ++j) {
      if (once_) {
        group.sources.push_back(source(i, j, received, received, i == j ? 1.0F : weight_));
        ++received;
        continue;
      }
      const std::size_t there = (i - ones.first) * others.count() + (j - others.first);
      const std::size_t back = (same ? 0 : ones.count() * others.count()) + (j - others.first) * ones.count() + (i - ones.first);
      group.sources.push_back(source(i, j, there, back, 1.0F));
    }
    const std::size_t count = others.last - begin;
    group.pairs.lookups.push_back({run_index(i), run_index(begin), run_index(count), row, false});
    if (added_) continue;
    // An element paired with itself has one direction.
    const std::size_t alone = begin == i ? 1 : 0;
    if (count > alone) {
      group.pairs.lookups.push_back({run_index(i), run_index(begin + alone), run_index(count - alone), row + alone, true});
    }
  }
  group.rows_used = group.sources.size();
  group.sources.resize(rows_);
  return group;
}

PairGroup PairGroups::of_events(std::size_t first, std::size_t last) const {
  const std::size_t elements = dead_.size();
  PairGroup group;
  group.pairs = {events_.size(), elements, rows_, false, {}};
  std::size_t a_scans = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> received;  // (receiver, A-scan of the group)
  for (std::size_t k = first; k < last; ++k) {
    const std::size_t event = events_[k];
    const RowRange shot = layout_.shot(event);
    add_rows(group.rows, shot);
    received.clear();
    const std::vector<std::uint32_t>& listed = receivers_[k];
    for (std::size_t place = 0; place < shot.count; ++place) {
      received.emplace_back(listed.empty() ? run_index(place) : listed[place], a_scans++);
    }
    std::ranges::sort(received);
    const std::size_t row = group.sources.size();
    if (!few_) {
      group.pairs.lookups.push_back({run_index(k), 0, run_index(elements), row, false});
      group.sources.resize(row + elements);
    }
    for (const auto& [receiver, at] : received) {
      const PairSource made = source(event, receiver, at, at, 1.0F);
      if (few_) {
        add_lookup(group.pairs.lookups, run_index(k), receiver, group.sources.size());
        group.sources.push_back(made);
      } else {
        group.sources[row + receiver] = made;
      }
    }
  }
  group.rows_used = group.sources.size();
  group.sources.resize(rows_);
  return group;
}

}  // namespace echoform
