// A frame in groups of its rows, each of which is paired, looked up and summed by itself: for frames that do not fit into
// memory as a whole. The grouping follows from the layout alone, so that sums do not depend on how much memory there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "acquisition/pair_rows.hpp"

namespace echoform {

struct Acquisition;

/// Adds rows to ranges. If they follow the last range, that range is lengthened.
void add_rows(std::vector<RowRange>& rows, const RowRange& more);

struct PairGroup {
  std::vector<RowRange> rows;       ///< of the frame, ascending and apart: A-scan k of the group is the k-th of these rows
  PairRows pairs;                   ///< with the same counts in every group; the lookups are of this group's pairs
  std::vector<PairSource> sources;  ///< by row of `pairs`, of the group's A-scans; rows that it lacks are rows of zeros
  std::size_t rows_used = 0;        ///< of `pairs`, from the first on: no lookup is of another
};

/// Where both directions of a pair count as one, or are one A-scan, a group is the pairs of one range of elements with another
/// (at most 16 with 16), both ways: a pair costs one lookup, as in a whole frame. Otherwise it is some events with all that
/// records them: as many as have 1024 pairs of an event and an element, from 1 to 16; or, where few_are_received(), as many as
/// have 1024 pairs that were received, at least one.
class PairGroups {
 public:
  /// `reciprocal` and `chosen` are as for combine_pairs(); the firings of listed events are never added in both directions.
  /// Codes cannot be grouped, since they are decoded from whole frames.
  PairGroups(const Acquisition& acquisition, bool reciprocal, std::span<const std::uint32_t> chosen = {});

  /// Groups of a frame, at least one.
  [[nodiscard]] std::size_t count() const noexcept;
  /// A-scans of the largest group.
  [[nodiscard]] std::size_t most_a_scans() const noexcept { return most_a_scans_; }
  /// Whether the transmit leg's sources are all elements, rather than one an event.
  [[nodiscard]] bool by_elements() const noexcept { return by_elements_; }
  /// `group` < count().
  [[nodiscard]] PairGroup at(std::size_t group) const;

 private:
  struct Elements {
    std::size_t first = 0;
    std::size_t last = 0;  ///< behind the last

    [[nodiscard]] std::size_t count() const { return last - first; }
  };
  [[nodiscard]] PairGroup of_elements(const Elements& ones, const Elements& others) const;
  [[nodiscard]] PairGroup of_events(std::size_t first, std::size_t last) const;
  void cut_events(std::size_t elements);
  [[nodiscard]] PairSource source(std::size_t event, std::size_t receiver, std::size_t first, std::size_t second,
                                  float weight) const;
  [[nodiscard]] Elements part(std::size_t place) const;

  FrameLayout layout_;
  std::vector<bool> dead_;                             // by element
  std::vector<bool> silent_;                           // by event: a dead element alone fires
  std::vector<std::uint32_t> events_;                  // that are imaged, of the frame
  std::vector<std::vector<std::uint32_t>> receivers_;  // of these, in the order of their rows; empty: all elements in theirs
  bool by_elements_ = false;
  bool few_ = false;                          // pairs that were received alone have rows
  bool once_ = false;                         // a pair has one A-scan, for both directions
  bool added_ = false;                        // both directions are looked up at once
  float weight_ = 1.0F;                       // of pairs of two elements
  std::size_t step_ = 1;                      // elements of a range
  std::size_t parts_ = 0;                     // ranges of elements
  std::vector<std::size_t> first_events_{0};  // by group, and the end: places in events_
  std::size_t rows_ = 0;                      // of `pairs`
  std::size_t most_a_scans_ = 0;
};

}  // namespace echoform
