// The TCP source of acquisition frames: a server to which any number of senders may connect (proto/WIRE.md).
//
// Each connection belongs to one I/O thread. A shot's payload is read straight into the slot that the intake leased; while
// the intake says `wait`, the connection is not read and TCP slows the sender; an I/O thread never blocks, and opening a
// stream, which may take seconds, happens on a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "acquisition/acquisition.hpp"
#include "base/clock.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/acquisition/framing.hpp"

namespace echoform {

struct TcpSourceOptions {
  std::string address = "127.0.0.1";              ///< of this machine, IPv4 or IPv6; "0.0.0.0" and "::" mean every interface
  std::uint16_t port = default_acquisition_port;  ///< 0: any free port
  std::string token{};                            ///< where not empty, a Hello must carry it
  AcquisitionLimits limits{};
  std::chrono::milliseconds hello_timeout{5000};     ///< from connecting to the last byte of the Hello; > 0
  std::chrono::milliseconds stall_timeout{10000};    ///< without a byte within a message; 0: never
  std::chrono::milliseconds message_timeout{60000};  ///< from the first to the last byte of a message; 0: never
  std::chrono::milliseconds idle_timeout{0};         ///< without a byte between messages; 0: never
  std::chrono::milliseconds tick{50};                ///< interval at which time-outs and frames' expiry are checked; > 0
  std::size_t io_threads = 2;                        ///< 1 .. 64
  std::size_t maximum_connections = 16;              ///< 1 .. 4096; one more is rejected
  std::size_t socket_buffer_bytes = 0;               ///< receive buffer asked of the system; 0: the system's own tuning
};

/// The TCP source. The rest of the program uses it only as an AcquisitionSource.
using TcpSource = AcquisitionSource;

/// Throws InputError if an option is out of its range or the address is invalid. start() throws RuntimeFault, naming address
/// and port, if the source cannot listen there. The source can be started once. The host must outlive stop(), which the
/// destructor calls. Time-outs use `clock`, which must outlive the source; without one, the system's clock.
[[nodiscard]] std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options, const Clock& clock);
[[nodiscard]] std::unique_ptr<TcpSource> make_tcp_source(const TcpSourceOptions& options);

}  // namespace echoform
