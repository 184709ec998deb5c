// Counters and log lines of a running source, for use by any of its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log_limit.hpp"
#include "transport/acquisition/acquisition_source.hpp"

namespace echoform {

/// SourceCounters, counted.
struct LiveSourceCounters {
  std::array<std::atomic<std::uint64_t>, decode_reason_count> decode_errors{};
  std::atomic<std::uint64_t> accepted{0}, rejected{0}, timed_out{0}, lost{0}, open{0}, shots{0}, discarded{0}, bytes{0};

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) noexcept {
    counter.fetch_add(by, std::memory_order_relaxed);
  }
  void add(DecodeReason reason) noexcept { add(decode_errors[static_cast<std::size_t>(reason)]); }
  [[nodiscard]] SourceCounters read() const noexcept;

  /// Notes the reason for which a sender was refused, for telemetry.
  void note_rejection(std::string_view reason);
  [[nodiscard]] std::string last_rejection() const;

 private:
  mutable std::mutex mutex_;
  std::string last_rejection_;
};

/// Causes of a source's warnings. Each cause is limited by itself, so that a flood of one does not hide the others.
enum class PeerWarning : std::uint8_t {
  not_accepted,    ///< the system gave no connection
  too_many,        ///< the maximum number of connections is open
  too_often,       ///< an address connects too fast
  no_descriptors,  ///< no descriptor is left for the connection
  silent,          ///< no complete Hello or message in time
  rejected,        ///< a Hello that was refused
  unknown_sender,  ///< shots without an accepted Hello
  damaged,         ///< what could not be decoded
  lost,            ///< gone without an End
};
inline constexpr std::size_t peer_warning_count = 9;

/// Warnings about peers, at most one line a second for each cause. Each line states how many warnings were left out before
/// it, so that a flood of bad peers does not become a flood of lines.
class PeerWarnings {
 public:
  explicit PeerWarnings(const Clock& clock) : clock_(clock) {}
  /// `make_line()` is called only if the line is written.
  template <class MakeLine>
  void warn(PeerWarning cause, const MakeLine& make_line) {
    if (const auto left_out = limits_[static_cast<std::size_t>(cause)].admit(clock_.steady())) write(make_line(), *left_out);
  }

 private:
  static void write(const std::string& line, std::uint64_t left_out);

  const Clock& clock_;
  std::array<LogLimit, peer_warning_count> limits_;
};

}  // namespace echoform
