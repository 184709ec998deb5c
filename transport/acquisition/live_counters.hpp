// What a door counts and says while it works, from any of its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "pipeline/clock.hpp"
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

  /// The reason that was given last for turning a sender away, for telemetry.
  void note_rejection(std::string_view reason);
  [[nodiscard]] std::string last_rejection() const;

 private:
  mutable std::mutex mutex_;
  std::string last_rejection_;
};

/// Warnings about peers, at most a few a second: a flood of bad peers must not become a flood of lines.
class PeerWarnings {
 public:
  explicit PeerWarnings(const Clock& clock) : clock_(clock) {}
  void warn(const std::string& line);
  /// Whether the next one of this second would be written: for lines that are costly to make.
  [[nodiscard]] bool open() const noexcept;

 private:
  [[nodiscard]] std::int64_t second() const noexcept;

  const Clock& clock_;
  std::atomic<std::int64_t> second_{0};
  std::atomic<int> warnings_{0};
};

}  // namespace echoform
