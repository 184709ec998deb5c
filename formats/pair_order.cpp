#include "formats/pair_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"

namespace echoform::formats {

std::vector<ElementPair> element_pairs(const Acquisition& acquisition, const std::string& where) {
  std::vector<ElementPair> pairs;
  pairs.reserve(acquisition.a_scans());
  for (const EventReceiver row : FrameLayout(acquisition).pairs()) {
    const auto element = firing_element(acquisition, row.event);
    if (!element) throw InputError(where, fmt::format("event {} of several elements", row.event), "events of one element each");
    pairs.push_back({*element, row.receiver});
  }
  return pairs;
}

namespace {

/// A pair of the list and its index there.
struct ListedPair {
  std::size_t transmit = 0;
  std::size_t receive = 0;
  std::size_t place = 0;

  [[nodiscard]] std::pair<std::size_t, std::size_t> pair() const { return {transmit, receive}; }
};

/// The pairs of a list, sorted; each pair occurs once.
class PairList {
 public:
  PairList(std::span<const std::size_t> transmit, std::span<const std::size_t> receive, std::size_t elements,
           const std::string& where)
      : elements_(elements) {
    if (transmit.empty()) throw InputError(where, "no A-scans", "at least one");
    for (std::size_t k = 0; k < transmit.size(); ++k) {
      for (const auto& [name, index] : {std::pair{"transmits", transmit[k]}, std::pair{"receives", receive[k]}}) {
        if (index >= elements) {
          throw InputError(where, fmt::format("A-scan {} {} with element {}", k + 1, name, index + 1),
                           fmt::format("elements 1 to {}", elements));
        }
      }
      pairs_.push_back({transmit[k], receive[k], k});
    }
    std::ranges::sort(pairs_, [](const ListedPair& a, const ListedPair& b) {
      return std::pair(a.pair(), a.place) < std::pair(b.pair(), b.place);
    });
    // The earliest second occurrence of a pair in the list.
    const ListedPair* again = nullptr;
    const ListedPair* before = nullptr;
    for (std::size_t k = 1; k < pairs_.size(); ++k) {
      if (pairs_[k].pair() != pairs_[k - 1].pair() || (again != nullptr && again->place < pairs_[k].place)) continue;
      again = &pairs_[k];
      before = &pairs_[k - 1];
    }
    if (again == nullptr) return;
    throw InputError(where,
                     fmt::format("pair ({}, {}) twice, as A-scans {} and {}", again->transmit + 1, again->receive + 1,
                                 before->place + 1, again->place + 1),
                     "each pair once");
  }

  [[nodiscard]] const std::vector<ListedPair>& pairs() const { return pairs_; }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  /// Index in the list; PairOrder::none if the pair is not in it.
  [[nodiscard]] std::size_t place_of(std::size_t transmit, std::size_t receive) const {
    const auto found = std::ranges::lower_bound(pairs_, std::pair(transmit, receive), {}, &ListedPair::pair);
    return found != pairs_.end() && found->pair() == std::pair(transmit, receive) ? found->place : PairOrder::none;
  }
  /// Whether any two elements transmit to each other, in both directions.
  [[nodiscard]] bool both_orders() const {
    return std::ranges::any_of(pairs_, [this](const ListedPair& one) {
      return one.transmit < one.receive && place_of(one.receive, one.transmit) != PairOrder::none;
    });
  }

 private:
  std::size_t elements_;
  std::vector<ListedPair> pairs_;
};

/// Whether at least three quarters of the pairs are there. An aperture of up to half of the elements that walks over the array,
/// with each pair once, has fewer.
bool is_nearly(std::size_t there, std::size_t whole) {
  return 4 * there >= 3 * whole;
}

/// Makes an event of each element that fires, in the order of their first firing, with the receivers that are listed for the
/// element.
PairOrder order_events_of(std::span<const std::size_t> transmit, std::span<const std::size_t> receive, const PairList& list) {
  constexpr std::size_t none = PairOrder::none;
  PairOrder order;
  std::vector<std::size_t> event_of(list.elements(), none);
  for (std::size_t k = 0; k < transmit.size(); ++k) {
    std::size_t& event = event_of[transmit[k]];
    if (event == none) {
      event = order.events.size();
      order.events.push_back({ElementEvent{static_cast<std::uint32_t>(transmit[k])}, {}});
    }
    order.events[event].receivers.push_back(static_cast<std::uint32_t>(receive[k]));
  }
  for (TransmitEvent& event : order.events) {
    const std::size_t element = std::get<ElementEvent>(event.form).element;
    if (event.receivers.size() == list.elements()) {
      event.receivers.clear();
      for (std::size_t receiver = 0; receiver < list.elements(); ++receiver) {
        order.source.push_back(list.place_of(element, receiver));
      }
      continue;
    }
    for (const std::uint32_t receiver : event.receivers) order.source.push_back(list.place_of(element, receiver));
  }
  return order;
}

PairOrder full_matrix(const PairList& list) {
  PairOrder order;
  order.source.assign(list.elements() * list.elements(), PairOrder::none);
  for (const ListedPair& pair : list.pairs()) order.source[pair.transmit * list.elements() + pair.receive] = pair.place;
  return order;
}

/// The order of a list that has no pair in both directions.
PairOrder half_matrix(const PairList& list) {
  PairOrder order;
  order.matrix = MatrixKind::half;
  order.source.assign(list.elements() * (list.elements() + 1) / 2, PairOrder::none);
  for (const ListedPair& pair : list.pairs()) {
    const auto [low, high] = std::minmax(pair.transmit, pair.receive);
    order.source[half_matrix_index(low, high, list.elements())] = pair.place;
    if (pair.transmit > pair.receive) ++order.swapped;
  }
  return order;
}

}  // namespace

PairOrder order_pairs(std::span<const std::size_t> transmit, std::span<const std::size_t> receive, std::size_t elements,
                      const std::string& where) {
  const PairList list(transmit, receive, elements, where);
  PairOrder sparse = order_events_of(transmit, receive, list);
  const bool all_record = std::ranges::all_of(sparse.events, [](const TransmitEvent& event) { return event.receivers.empty(); });
  if (all_record && sparse.events.size() < elements) return sparse;
  const bool full = elements == 1 || list.both_orders();
  if (!is_nearly(list.pairs().size(), full ? elements * elements : elements * (elements + 1) / 2)) return sparse;
  PairOrder order = full ? full_matrix(list) : half_matrix(list);
  order.missing = static_cast<std::size_t>(std::count(order.source.begin(), order.source.end(), PairOrder::none));
  order.mixed = full && order.missing > 0;
  return order;
}

bool pairs_tell_events(const Acquisition& acquisition) {
  if (acquisition.events.empty() || received_by_all(acquisition)) return true;
  std::vector<std::size_t> transmit;
  std::vector<std::size_t> receive;
  for (const ElementPair& pair : element_pairs(acquisition, "events")) {
    transmit.push_back(pair.transmit);
    receive.push_back(pair.receive);
  }
  const PairOrder order = order_pairs(transmit, receive, acquisition.elements(), "events");
  return order.events == acquisition.events;
}

std::string PairOrder::note() const {
  std::string text;
  if (std::ranges::any_of(events, [](const TransmitEvent& event) { return !event.receivers.empty(); })) {
    if (is_pulse_echo(events)) return {};  // the acquisition reports that
    text = "events have receivers of their own";
  } else if (!events.empty()) {
    text = "some elements fire, all receive";
  } else if (mixed) {
    text = "neither a complete full nor a half matrix: read as full";
  } else if (swapped > 0) {
    text = fmt::format("{} pairs stored as (j, i) stand for (i, j)", swapped);
  }
  if (missing > 0) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} missing pairs count as zero", missing);
  }
  return text;
}

}  // namespace echoform::formats
