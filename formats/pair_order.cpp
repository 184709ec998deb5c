#include "formats/pair_order.hpp"

#include <fmt/format.h>

#include <algorithm>

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

/// The elements that transmit, in the order in which they first do.
std::vector<std::uint32_t> transmitters(std::span<const std::size_t> transmit, std::size_t elements) {
  std::vector<std::uint32_t> firing;
  std::vector<bool> seen(elements);
  for (const std::size_t element : transmit) {
    if (!seen[element]) firing.push_back(static_cast<std::uint32_t>(element));
    seen[element] = true;
  }
  return firing;
}

}  // namespace

PairOrder order_pairs(std::span<const std::size_t> transmit, std::span<const std::size_t> receive, std::size_t elements,
                      const std::string& where) {
  if (transmit.empty()) throw InputError(where, "no A-scans", "at least one");
  std::vector<std::size_t> full(elements * elements, PairOrder::none);
  for (std::size_t k = 0; k < transmit.size(); ++k) {
    for (const auto& [name, index] : {std::pair{"transmits", transmit[k]}, std::pair{"receives", receive[k]}}) {
      if (index >= elements) {
        throw InputError(where, fmt::format("A-scan {} {} with element {}", k + 1, name, index + 1),
                         fmt::format("elements 1 to {}", elements));
      }
    }
    std::size_t& place = full[transmit[k] * elements + receive[k]];
    if (place != PairOrder::none) {
      throw InputError(
          where, fmt::format("pair ({}, {}) twice, as A-scans {} and {}", transmit[k] + 1, receive[k] + 1, place + 1, k + 1),
          "each pair once");
    }
    place = k;
  }

  PairOrder order;
  // No pair is there twice: with as many as that, each has all receivers.
  const std::vector<std::uint32_t> firing = transmitters(transmit, elements);
  if (firing.size() < elements && transmit.size() == firing.size() * elements) {
    order.events = element_events(firing);
    for (const std::size_t element : firing) {
      const auto first = full.begin() + static_cast<std::ptrdiff_t>(element * elements);
      order.source.insert(order.source.end(), first, first + static_cast<std::ptrdiff_t>(elements));
    }
    return order;
  }
  bool both_orders = elements == 1;
  for (std::size_t i = 0; i < elements && !both_orders; ++i) {
    for (std::size_t j = i + 1; j < elements && !both_orders; ++j) {
      both_orders = full[i * elements + j] != PairOrder::none && full[j * elements + i] != PairOrder::none;
    }
  }
  if (both_orders) {
    order.source = std::move(full);
  } else {
    order.matrix = MatrixKind::half;
    order.source.resize(elements * (elements + 1) / 2);
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = i; j < elements; ++j) {
        std::size_t place = full[i * elements + j];
        if (place == PairOrder::none && full[j * elements + i] != PairOrder::none) {
          place = full[j * elements + i];
          ++order.swapped;
        }
        order.source[half_matrix_index(i, j, elements)] = place;
      }
    }
  }
  order.missing = static_cast<std::size_t>(std::count(order.source.begin(), order.source.end(), PairOrder::none));
  order.mixed = order.matrix == MatrixKind::full && order.missing > 0;
  return order;
}

std::string PairOrder::note() const {
  std::string text;
  if (!events.empty()) text = "some elements fire, all receive";
  if (mixed) {
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
