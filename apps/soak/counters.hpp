// What a server counts, read from /metrics as any user could, and what a soak expects it to have counted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace echoform::soak {

/// Values by name and labels as /metrics writes them: echoform_frames_dropped_total{reason="incomplete"}. Only whole numbers
/// are kept.
using Counters = std::map<std::string, std::uint64_t, std::less<>>;

[[nodiscard]] Counters parse_metrics(std::string_view text);
/// 0 where it is absent.
[[nodiscard]] std::uint64_t value_of(const Counters& counters, std::string_view name);

namespace counter {
inline constexpr std::string_view received = "echoform_frames_received_total";
inline constexpr std::string_view published = "echoform_frames_published_total";
inline constexpr std::string_view in_flight = "echoform_frames_in_flight";
inline constexpr std::string_view dropped = "echoform_frames_dropped_total";
inline constexpr std::string_view incomplete = "echoform_frames_dropped_total{reason=\"incomplete\"}";
inline constexpr std::string_view bytes = "echoform_bytes_received_total";
inline constexpr std::string_view gaps = "echoform_sequence_gaps_total";
inline constexpr std::string_view duplicate_shots = "echoform_shots_duplicate_total";
inline constexpr std::string_view stale_shots = "echoform_shots_stale_total";
inline constexpr std::string_view clipped = "echoform_clipped_samples_total";
inline constexpr std::string_view invalid = "echoform_invalid_samples_total";
inline constexpr std::string_view decode_errors = "echoform_decode_errors_total";
inline constexpr std::string_view connections = "echoform_connections_total";
inline constexpr std::string_view accepted = "echoform_connections_total{outcome=\"accepted\"}";
inline constexpr std::string_view rejected = "echoform_connections_total{outcome=\"rejected\"}";
inline constexpr std::string_view timed_out = "echoform_connections_total{outcome=\"timed_out\"}";
inline constexpr std::string_view lost = "echoform_connections_total{outcome=\"lost\"}";
inline constexpr std::string_view recorded = "echoform_frames_recorded_total";
inline constexpr std::string_view settings_revision = "echoform_settings_revision";
inline constexpr std::string_view connections_open = "echoform_connections_open";
/// "bad_magic" of decode_errors.
[[nodiscard]] std::string decode_error(std::string_view reason);
}  // namespace counter

/// received = published + dropped + in flight, which a server claims of every reading.
struct Closure {
  std::uint64_t received = 0, published = 0, dropped = 0, in_flight = 0;
  [[nodiscard]] bool closes() const { return received == published + dropped + in_flight; }
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] Closure closure_of(const Counters& counters);
/// "incomplete 3, superseded 1" or "none".
[[nodiscard]] std::string drops_text(const Counters& counters);

/// Totals that the server must reach. Code that is about to cause a count adds it first. So no reading may exceed the
/// expected total, and each must reach it in the end. Thread-safe.
class Expectations {
 public:
  /// Where `outcomes` is false, nothing is expected about which frames are published and which are dropped: drop policies
  /// decide that by load.
  explicit Expectations(bool outcomes) : outcomes_(outcomes) {}

  void add(std::string_view name, std::uint64_t count = 1);
  /// Expects a count that comes later by itself, such as a time-out. Call arrived() once it must have come.
  void add_later(std::string_view name, std::uint64_t count = 1);
  void arrived(std::string_view name, std::uint64_t count = 1);

  /// A line about the first counter that is beyond what is expected. Call it with readings made before the call.
  [[nodiscard]] std::optional<std::string> exceeded(const Counters& found) const;
  /// A line about the first counter that has not come to what is expected, frames only where asked for.
  [[nodiscard]] std::optional<std::string> outstanding(const Counters& found, bool frames) const;
  /// Everything expected so far.
  [[nodiscard]] Counters expected() const;

 private:
  [[nodiscard]] bool judged(std::string_view name) const;

  const bool outcomes_;
  mutable std::mutex mutex_;
  Counters expected_;
  Counters later_;
};

}  // namespace echoform::soak
