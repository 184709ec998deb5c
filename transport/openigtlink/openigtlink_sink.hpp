// Images over OpenIGTLink, for 3D Slicer, PLUS and others: a server on TCP that clients connect to (docs/openigtlink.md).
// The server has a thread of its own. The pipeline never waits for it, and no client waits for another.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/image_sink.hpp"
#include "transport/openigtlink/messages.hpp"
#include "transport/peers/peer_counters.hpp"
#include "transport/publish/image_message.hpp"

namespace echoform {

struct OpenIgtlinkSinkOptions {
  std::string name = "echoform";                   ///< streams, hence devices, are called after it: see publish/image_message.hpp
  std::string address = "127.0.0.1";               ///< IPv4 or IPv6 address to listen on
  std::uint16_t port = openigtlink::default_port;  ///< 0: any free one
  StreamChoice choice{.envelope = false, .display = true};
  std::vector<std::string> views;  ///< of these alone; empty: of all
  double most_per_second = 30.0;   ///< images of each stream to each client; 0: as many as it takes
  std::size_t clients = 16;        ///< at once; further ones are disconnected
  /// A client that reads nothing, or leaves a message unfinished, for this long is disconnected.
  std::chrono::milliseconds client_timeout{20'000};
  std::chrono::milliseconds telemetry_interval{1'000};  ///< between STRING messages of figures
};

/// Each client gets the newest image of each stream as soon as it has taken the previous one. It never sees the images in
/// between.
class OpenIgtlinkSink : public ImageSink {
 public:
  /// The port in use, also where 0 was requested.
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  [[nodiscard]] virtual std::size_t clients() const noexcept = 0;
  /// Images that a client did not take before a newer one came, over all clients.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;
  [[nodiscard]] virtual const PeerCounters& peers() const noexcept = 0;
  /// Number of buffers for images. It is bounded by the numbers of streams and of clients, whatever the clients do.
  [[nodiscard]] virtual std::size_t image_buffers() const = 0;
};

/// Binds and starts serving. Throws InputError for a bad name or address, RuntimeFault (naming the address) if it cannot be
/// bound. Destroying the sink closes all connections.
[[nodiscard]] std::unique_ptr<OpenIgtlinkSink> make_openigtlink_sink(const OpenIgtlinkSinkOptions& options);

}  // namespace echoform
