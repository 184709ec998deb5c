// The meaning of rows of A-scans for a beamformer: their transmit events and receivers, and the order in which they are
// summed. A beamformer needs nothing else of an acquisition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "acquisition/pair_source.hpp"

namespace echoform {

struct Acquisition;

/// Rows that follow each other, of one transmit event and of receivers that follow each other.
struct PairRun {
  std::uint32_t event = 0;
  std::uint32_t receiver = 0;  ///< of the first row
  std::uint32_t count = 0;
  std::size_t row = 0;  ///< the first
  /// Looked up as if the receivers had transmitted and the event's element received, which is the same by reciprocity: event k is
  /// element k.
  bool reversed = false;

  [[nodiscard]] friend constexpr bool operator==(const PairRun&, const PairRun&) = default;
};

struct PairRows {
  std::size_t events = 0;     ///< sources of the transmit leg
  std::size_t receivers = 0;  ///< sources of the receive leg
  std::size_t rows = 0;
  /// Rows of two elements are s_ij + s_ji: for laws and weights that are the same in both directions. Event k is element k
  /// then.
  bool summed = false;
  std::vector<PairRun> lookups;  ///< in the order of summation

  /// Whether some row is looked up in a direction in which it was not received: then mirrored views have the same image.
  [[nodiscard]] bool any_reversed() const;

  [[nodiscard]] friend bool operator==(const PairRows&, const PairRows&) = default;
};

/// Adds the lookup of a row, not reversed: to the last run where it follows that, else as a run of its own.
void add_lookup(std::vector<PairRun>& lookups, std::uint32_t event, std::uint32_t receiver, std::size_t row);

/// Every pair: row event * receivers + receiver.
[[nodiscard]] PairRows all_pairs(std::size_t events, std::size_t receivers);
/// Whether events, or the `chosen` ones, list their own receivers, and so few that at least half of the rows of all events
/// and elements would be zeros. It is false if a pair has one A-scan for both directions, and for a code, which is decoded
/// as a whole.
[[nodiscard]] bool few_are_received(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});
/// The pairs that were received, of an acquisition that lists events. For each event, or each `chosen` one if there are any,
/// they have a row for each of its receivers, in ascending order.
[[nodiscard]] PairRows received_pairs(const Acquisition& acquisition, std::span<const std::uint32_t> chosen = {});
/// Pairs (i, j), i <= j, of `elements` elements that transmit in turn, in the order (0,0), (0,1) ... (1,1) ..., each the sum
/// of both directions.
[[nodiscard]] PairRows summed_pairs(std::size_t elements);
/// The same pairs in the same order, each received once and looked up in both directions.
[[nodiscard]] PairRows pairs_both_ways(std::size_t elements);

/// Throws InputError, naming `where`, unless every lookup is within the counts.
void validate(const PairRows& pairs, const char* where);

/// Rows for a beamformer, and of which rows of a frame each is made.
struct CombinedPairs {
  PairRows pairs;
  std::vector<PairSource> sources;  ///< by row
};

/// The rows that cost a beamformer the least work. `reciprocal`: no law and no weight distinguishes (i, j) from (j, i), and
/// one element fires in each event. Then both directions of two elements are added and a pair costs one lookup, whichever of
/// them fires, unless so few elements fire that the received pairs are fewer. Otherwise every pair of an event and a
/// receiver has a row, or, if a frame has each pair once, is looked up in both directions. Pairs with a dead element, and
/// those that the frame does not hold, are rows of zeros. Where few_are_received(), the pairs that were received alone have
/// rows: pulse-echo of N elements takes N rows, not N^2. With `chosen` events alone, of a full matrix or of listed events,
/// event k of the rows is chosen[k]; nothing is added then.
[[nodiscard]] CombinedPairs combine_pairs(const Acquisition& acquisition, bool reciprocal,
                                          std::span<const std::uint32_t> chosen = {});
/// The same without the sources.
[[nodiscard]] PairRows combined_rows(const Acquisition& acquisition, bool reciprocal, std::span<const std::uint32_t> chosen = {});

}  // namespace echoform
