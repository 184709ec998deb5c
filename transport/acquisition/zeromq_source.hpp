// The ZeroMQ source of acquisition frames: a PULL socket to which any number of senders may push (proto/WIRE.md, "Over
// ZeroMQ").
//
// One thread takes whole messages from libzmq and copies each payload once, into the slot that the intake leased. While the
// intake says `wait`, nothing is taken: libzmq's queue fills up to its high-water mark, TCP's windows close, and the senders'
// own marks hold them back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "acquisition/acquisition.hpp"
#include "base/clock.hpp"
#include "transport/acquisition/acquisition_source.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

struct ZeromqSourceOptions {
  std::string address = "127.0.0.1";         ///< of this machine, IPv4 or IPv6; "*" means every interface
  std::uint16_t port = default_zeromq_port;  ///< 0: any free port
  std::string token{};                       ///< where not empty, a Hello must carry it
  AcquisitionLimits limits{};
  std::chrono::milliseconds idle_timeout{5000};  ///< after so long without a message of the active session another may begin; > 0
  std::chrono::milliseconds tick{50};            ///< interval at which time-outs and frames' expiry are checked; > 0
  std::size_t maximum_connections = 16;          ///< peers at once, 1 .. 4096
  std::optional<CurveServerKeys> keys{};         ///< with keys, only peers with a listed key can send messages
};

/// The ZeroMQ source. Its peers() count connections, as libzmq accepts them; they do not correspond to sessions.
using ZeromqSource = AcquisitionSource;

/// Throws InputError if an option is out of its range or the address is invalid. start() throws RuntimeFault, naming address
/// and port, if they cannot be bound. The source can be started once. The host must outlive stop(), which the destructor
/// calls. Time-outs use `clock`, which must outlive the source; without one, the system's clock.
[[nodiscard]] std::unique_ptr<ZeromqSource> make_zeromq_source(const ZeromqSourceOptions& options, const Clock& clock);
[[nodiscard]] std::unique_ptr<ZeromqSource> make_zeromq_source(const ZeromqSourceOptions& options);

/// Bytes of the longest message that a sender may need within these limits: a longer one ends its connection.
[[nodiscard]] std::size_t longest_message(const AcquisitionLimits& limits) noexcept;
/// Maximum number of messages of one peer that wait: as many of the longest message as make up the largest frame, at least
/// two.
[[nodiscard]] int waiting_messages(const AcquisitionLimits& limits) noexcept;

}  // namespace echoform
