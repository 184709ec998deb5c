// What the sources of acquisition frames have in common, over whichever transport the messages come.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/message_reader.hpp"
#include "transport/peers/peer_counters.hpp"

namespace echoform {

/// Totals since the start, for metrics. Senders over TCP are counted by connections, senders over ZeroMQ by sessions.
struct SourceCounters {
  std::array<std::uint64_t, decode_reason_count> decode_errors{};  ///< by DecodeReason; over TCP each closed one connection
  std::uint64_t connections_accepted = 0;                          ///< whose Hello was accepted
  std::uint64_t connections_rejected = 0;   ///< ended before that: too many, token, Hello, refused by the pipeline
  std::uint64_t connections_timed_out = 0;  ///< closed because nothing came in time
  std::uint64_t connections_lost = 0;       ///< accepted, and ended without an End between two messages
  std::uint64_t connections_open = 0;       ///< now
  std::uint64_t shots_received = 0;
  std::uint64_t shots_discarded = 0;  ///< received and discarded: by the intake, or since their sender was not accepted
  std::uint64_t bytes_received = 0;   ///< of everything, prefixes and headers included

  [[nodiscard]] std::uint64_t decode_errors_total() const {
    std::uint64_t sum = 0;
    for (const auto count : decode_errors) sum += count;
    return sum;
  }
  /// Adds the counters of another source.
  SourceCounters& operator+=(const SourceCounters& other) {
    for (std::size_t i = 0; i < decode_errors.size(); ++i) decode_errors[i] += other.decode_errors[i];
    connections_accepted += other.connections_accepted;
    connections_rejected += other.connections_rejected;
    connections_timed_out += other.connections_timed_out;
    connections_lost += other.connections_lost;
    connections_open += other.connections_open;
    shots_received += other.shots_received;
    shots_discarded += other.shots_discarded;
    bytes_received += other.bytes_received;
    return *this;
  }
};

class AcquisitionSource : public Source {
 public:
  /// The source's name in metrics and telemetry: "tcp", "zeromq".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The port in use, once started (the one that the system chose where 0 was asked for).
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// Ends the present connections, and informs their senders that nothing is wrong and that no more frames are needed;
  /// `reason` is a line for the operator. Returns at once. Call it from any thread between start and stop. Does nothing
  /// where the transport carries nothing back to senders.
  virtual void dismiss(const std::string& /*reason*/) {}
  /// Safe from any thread.
  [[nodiscard]] virtual SourceCounters counters() const noexcept = 0;
  /// Why a sender was last refused; empty if none was.
  [[nodiscard]] virtual std::string last_rejection() const = 0;
  /// Refused peers by reason; null where the source does not count them.
  [[nodiscard]] virtual const PeerCounters* peers() const noexcept { return nullptr; }
};

}  // namespace echoform
