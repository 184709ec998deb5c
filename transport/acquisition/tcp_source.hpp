// The TCP door for acquisition frames: a server that any number of senders may knock at (proto/WIRE.md).
//
// Each connection belongs to one I/O thread. A shot's payload is read straight into the slot that the intake leased; while
// the intake says `wait`, the connection is not read and TCP slows the sender; an I/O thread never blocks, and opening a
// stream, which may take seconds, happens on a thread of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/acquisition.hpp"
#include "pipeline/clock.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/decoder.hpp"
#include "transport/acquisition/framing.hpp"

namespace echoform {

struct TcpSourceOptions {
  std::string address = "127.0.0.1";              ///< of this machine, IPv4 or IPv6; "0.0.0.0" and "::" mean every interface
  std::uint16_t port = default_acquisition_port;  ///< 0: any free port
  std::string token;                              ///< where not empty, a Hello must carry it
  AcquisitionLimits limits;
  std::chrono::milliseconds hello_timeout{5000};     ///< from connecting to the last byte of the Hello; > 0
  std::chrono::milliseconds stall_timeout{10000};    ///< without a byte within a message; 0: never
  std::chrono::milliseconds message_timeout{60000};  ///< from the first to the last byte of a message; 0: never
  std::chrono::milliseconds idle_timeout{0};         ///< without a byte between messages; 0: never
  std::chrono::milliseconds tick{50};                ///< how often time-outs and frames' expiry are looked at; > 0
  std::size_t io_threads = 2;                        ///< 1 .. 64
  std::size_t maximum_connections = 16;              ///< 1 .. 4096; one more is rejected
  std::size_t socket_buffer_bytes = 0;               ///< receive buffer asked of the system; 0: the system's own tuning
};

/// Totals since the start, for metrics.
struct SourceCounters {
  std::array<std::uint64_t, decode_reason_count> decode_errors{};  ///< by DecodeReason; each closed one connection
  std::uint64_t connections_accepted = 0;                          ///< whose Hello was answered with Accept
  std::uint64_t connections_rejected = 0;   ///< that ended before that: too many, token, Hello, refused by the pipeline
  std::uint64_t connections_timed_out = 0;  ///< closed because nothing came in time
  std::uint64_t connections_lost = 0;       ///< accepted, and ended without an End between two messages
  std::uint64_t connections_open = 0;       ///< now
  std::uint64_t shots_received = 0;
  std::uint64_t shots_discarded = 0;  ///< read and thrown away because the intake said so
  std::uint64_t bytes_received = 0;   ///< of everything, prefixes and headers included

  [[nodiscard]] std::uint64_t decode_errors_total() const {
    std::uint64_t sum = 0;
    for (const auto count : decode_errors) sum += count;
    return sum;
  }
};

class TcpSource : public Source {
 public:
  /// The port in use, once started (the one that the system chose where 0 was asked for).
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// Safe from any thread.
  [[nodiscard]] virtual SourceCounters counters() const noexcept = 0;
};

/// Throws InputError if an option is out of its range or the address is not one. start() throws RuntimeFault naming address
/// and port if they cannot be listened on. The host must outlive stop(), which the destructor calls. Started once.
/// Time-outs go by `clock`, which outlives the source; without one, by the system's.
[[nodiscard]] std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options, const Clock& clock);
[[nodiscard]] std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options);

}  // namespace echoform
