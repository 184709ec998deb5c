// Where the A-scans of a frame lie. Code that moves, stores or counts shots needs to know nothing else of an acquisition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace echoform {

struct Acquisition;

/// Rows of a frame that follow each other.
struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;

  constexpr bool operator==(const RowRange&) const = default;
};

/// Bytes of a frame that follow each other.
struct ByteRange {
  std::size_t first = 0;
  std::size_t count = 0;

  constexpr bool operator==(const ByteRange&) const = default;
};

/// What a row is: the A-scan of element `receiver` after event `event`.
struct EventReceiver {
  std::uint32_t event = 0;
  std::uint32_t receiver = 0;

  constexpr auto operator<=>(const EventReceiver&) const = default;
};

/// A frame is an array [row, sample], with one row per A-scan. Shot `event` is the rows of one transmit event, which are
/// contiguous; the shots follow each other in the order of the events. The layout allocates memory when it is made, and
/// never afterwards: a few bytes per event if all elements record.
class FrameLayout {
 public:
  /// The layout of no frame: it has no events and no rows.
  FrameLayout() = default;
  /// `acquisition` has passed validate(), so that no count overflows.
  explicit FrameLayout(const Acquisition& acquisition);

  /// Shots of a frame, including those that are not expected.
  [[nodiscard]] std::size_t events() const noexcept { return first_rows_.size() - 1; }
  /// Whether the acquisition lists its events; if not, event i is element i.
  [[nodiscard]] bool lists_events() const noexcept { return listed_; }
  /// Elements of the probe.
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
  [[nodiscard]] std::size_t rows() const noexcept { return first_rows_.back(); }
  /// Samples of each row.
  [[nodiscard]] std::size_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::size_t bytes_per_row() const noexcept { return bytes_per_row_; }
  [[nodiscard]] std::size_t frame_bytes() const noexcept { return rows() * bytes_per_row_; }

  /// Rows that the shot of `event`, which is below events(), fills.
  [[nodiscard]] RowRange shot(std::size_t event) const noexcept {
    return {first_rows_[event], first_rows_[event + 1] - first_rows_[event]};
  }
  /// The bytes of the frame that these rows take.
  [[nodiscard]] ByteRange shot_bytes(std::size_t event) const noexcept {
    return {first_rows_[event] * bytes_per_row_, shot(event).count * bytes_per_row_};
  }
  [[nodiscard]] std::size_t longest_shot_bytes() const noexcept { return longest_shot_ * bytes_per_row_; }

  /// Whether a frame waits for the shot of `event`. The shot of a dead element is not expected; it may arrive, and counts as
  /// zeros.
  [[nodiscard]] bool expected(std::size_t event) const noexcept { return expected_[event]; }
  /// Shots without which a frame is not complete.
  [[nodiscard]] std::size_t expected_shots() const noexcept { return expected_shots_; }

  /// Row of the A-scan of `receiver` after `event`; none if the frame does not hold it.
  [[nodiscard]] std::optional<std::size_t> row_of(std::size_t event, std::size_t receiver) const noexcept;
  /// Whether the row of `receiver` after `event` is the sum of both directions of the pair.
  [[nodiscard]] bool sums_directions(std::size_t event, std::size_t receiver) const noexcept {
    return summed_ && event != receiver;
  }
  /// The event and receiver of each row, in the order of the rows.
  [[nodiscard]] std::vector<EventReceiver> pairs() const;

  /// "64 elements" or, where the acquisition lists its events, "12 events": what an event's index must be below.
  [[nodiscard]] std::string events_text() const;

  /// Whether frames of both layouts have the same rows at the same places, so that code that moves, stores or counts them
  /// can treat them alike. Counts, bytes per row, the receivers of each shot, and whether shots are numbered by elements or
  /// by listed events are compared. What the rows contain is not compared: which elements fire, which are dead (so that
  /// their shots are not expected), and whether rows are sums of both directions.
  [[nodiscard]] bool operator==(const FrameLayout& other) const noexcept;

 private:
  [[nodiscard]] std::uint32_t receiver_of(std::size_t event, std::size_t place) const noexcept;

  std::size_t elements_ = 0;
  std::size_t samples_ = 0;
  std::size_t bytes_per_row_ = 0;
  bool listed_ = false;                       // the acquisition lists its events
  bool summed_ = false;                       // its rows off the diagonal are sums
  bool from_diagonal_ = false;                // event i is recorded by the elements from i on
  std::vector<std::uint32_t> first_rows_{0};  // by event, and the end
  std::vector<bool> expected_;
  std::size_t expected_shots_ = 0;
  std::size_t longest_shot_ = 0;
  std::vector<std::uint32_t> receivers_;  // by row; empty where they follow from the event
};

/// Throws InputError if no shot is expected, since no frame would ever be complete.
void require_expected_shots(const FrameLayout& layout);

}  // namespace echoform
