#include "acquisition/frame_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"

namespace echoform {

FrameLayout::FrameLayout(const Acquisition& acquisition)
    : elements_(acquisition.elements()),
      samples_(acquisition.samples),
      bytes_per_row_(acquisition.bytes_per_a_scan()),
      listed_(!acquisition.events.empty()),
      summed_(acquisition.pairs_summed()),
      from_diagonal_(acquisition.pairs_once()),
      expected_(acquisition.event_count()) {
  const std::size_t events = acquisition.event_count();
  const bool chosen = std::ranges::any_of(acquisition.events, [](const TransmitEvent& e) { return !e.receivers.empty(); });
  first_rows_.reserve(events + 1);
  for (std::size_t event = 0; event < events; ++event) {
    const auto firing = firing_element(acquisition, event);
    expected_[event] = !firing || !acquisition.probe.elements[*firing].dead;
    if (expected_[event]) ++expected_shots_;
    std::size_t rows = from_diagonal_ ? elements_ - event : elements_;
    if (listed_ && !acquisition.events[event].receivers.empty()) rows = acquisition.events[event].receivers.size();
    first_rows_.push_back(static_cast<std::uint32_t>(first_rows_.back() + rows));
    longest_shot_ = std::max(longest_shot_, rows);
  }
  if (!chosen) return;
  receivers_.reserve(rows());
  for (const TransmitEvent& event : acquisition.events) {
    if (event.receivers.empty()) {
      for (std::uint32_t i = 0; i < elements_; ++i) receivers_.push_back(i);
    } else {
      receivers_.insert(receivers_.end(), event.receivers.begin(), event.receivers.end());
    }
  }
}

std::uint32_t FrameLayout::receiver_of(std::size_t event, std::size_t place) const noexcept {
  if (!receivers_.empty()) return receivers_[first_rows_[event] + place];
  return static_cast<std::uint32_t>(from_diagonal_ ? event + place : place);
}

std::optional<std::size_t> FrameLayout::row_of(std::size_t event, std::size_t receiver) const noexcept {
  if (event >= events() || receiver >= elements_) return std::nullopt;
  const RowRange rows = shot(event);
  if (receivers_.empty()) {
    const std::size_t first = from_diagonal_ ? event : 0;
    if (receiver < first) return std::nullopt;
    return rows.first + receiver - first;
  }
  const auto begin = receivers_.begin() + static_cast<std::ptrdiff_t>(rows.first);
  const auto end = begin + static_cast<std::ptrdiff_t>(rows.count);
  const auto place = std::find(begin, end, receiver);
  if (place == end) return std::nullopt;
  return static_cast<std::size_t>(place - receivers_.begin());
}

std::vector<EventReceiver> FrameLayout::pairs() const {
  std::vector<EventReceiver> pairs;
  pairs.reserve(rows());
  for (std::size_t event = 0; event < events(); ++event) {
    for (std::size_t place = 0; place < shot(event).count; ++place) {
      pairs.push_back({static_cast<std::uint32_t>(event), receiver_of(event, place)});
    }
  }
  return pairs;
}

bool FrameLayout::operator==(const FrameLayout& other) const noexcept {
  const auto facts = [](const FrameLayout& of) {
    return std::tie(of.elements_, of.samples_, of.bytes_per_row_, of.listed_, of.from_diagonal_, of.first_rows_, of.receivers_);
  };
  return facts(*this) == facts(other);
}

std::string FrameLayout::events_text() const {
  return fmt::format("{} {}", events(), listed_ ? "events" : "elements");
}

void require_expected_shots(const FrameLayout& layout) {
  if (layout.expected_shots() > 0) return;
  throw InputError("dead elements",
                   fmt::format("all {} {}", layout.events(), layout.lists_events() ? "that fire" : "of the probe"),
                   "at least one that is alive");
}

}  // namespace echoform
