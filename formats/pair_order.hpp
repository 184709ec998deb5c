// Converts a file's list of (transmit, receive) pairs, in any order, to the order of A-scans that Acquisition fixes.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"

namespace echoform::formats {

struct PairOrder {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  MatrixKind matrix = MatrixKind::full;
  std::vector<TransmitEvent> events;  ///< of an acquisition that lists them
  std::vector<std::size_t> source;    ///< for each A-scan of the frame, its place in the file, or `none`
  std::size_t missing = 0;            ///< A-scans without a place in the file
  std::size_t swapped = 0;            ///< A-scans stored as (j, i) that stand for (i, j), i < j
  bool mixed = false;                 ///< a full matrix that is not complete

  /// What was unusual, for people; empty for a complete matrix.
  [[nodiscard]] std::string note() const;
};

/// A row of a frame whose events are of one element each; both from 0.
struct ElementPair {
  std::size_t transmit = 0;
  std::size_t receive = 0;
};

/// What each row of a frame is, in their order. Throws InputError (naming `where`) for events of several elements.
[[nodiscard]] std::vector<ElementPair> element_pairs(const Acquisition& acquisition, const std::string& where);

/// `transmit` and `receive` (same length) count from 0. A list in which some elements, not all, transmit and all receive each of
/// them is of events, in the order in which they first appear. Of others, one in which some pair appears in both orders is a full
/// matrix, any other a half matrix ((j, i) stands for (i, j) by reciprocity), if at least three quarters of the matrix are there;
/// one element is a full matrix of one. With less than that, as of pulse-echo and of apertures that walk over the array, elements
/// that fire are events with receivers of their own. Takes memory by the list's length alone, unless it is a matrix. `where`
/// names the file and list. Throws InputError if the list is empty, an index is `elements` or more,
/// or a pair appears twice.
[[nodiscard]] PairOrder order_pairs(std::span<const std::size_t> transmit, std::span<const std::size_t> receive,
                                    std::size_t elements, const std::string& where);

/// Whether order_pairs() knows the events of `acquisition`, which are firings of single elements, by the list of its A-scans:
/// those with receivers of their own may look like a matrix of which some pairs are missing.
[[nodiscard]] bool pairs_tell_events(const Acquisition& acquisition);

}  // namespace echoform::formats
