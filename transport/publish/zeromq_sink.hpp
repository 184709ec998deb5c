// Images over ZeroMQ: one PUB socket (XPUB, which reports subscriptions) with any number of subscribers. No subscriber can
// slow the pipeline or another subscriber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/image_sink.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/zeromq/curve_keys.hpp"
#include "transport/zeromq/peer_watch.hpp"

namespace echoform {

struct ZeromqSinkOptions {
  std::string name = "echoform";      ///< streams are called after it: see image_message.hpp
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 address to listen on; "*" for all interfaces
  std::uint16_t port = 17180;         ///< 0: any free one
  StreamChoice choice{};              ///< which images to publish
  /// Memory that messages waiting for one subscriber may take; at least two frames wait all the same.
  std::size_t bytes_per_subscriber = std::size_t{16} << 20;
  /// Expected size of a frame: the bytes of its largest image, and the number of its images. The number of messages that may
  /// wait follows from these. Larger images are published all the same, and then more bytes wait.
  std::size_t image_bytes = std::size_t{256} * 256 * sizeof(float);
  std::size_t images_per_frame = 2;
  std::size_t subscribers = 32;           ///< at once; further ones are disconnected
  std::optional<CurveServerKeys> keys{};  ///< only clients with CURVE are served, those that they list
};

/// A sink that publishes every stream of every frame as a single-part Image message. It drops messages for a subscriber that
/// does not keep up. It drops them for all subscribers where as many messages wait for the socket's thread as may wait for
/// one subscriber. Subscribers see a gap in the sequence.
class ZeromqSink : public ImageSink {
 public:
  /// The port in use, also where 0 was requested.
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// "tcp://127.0.0.1:17180", as a subscriber on this host connects to it.
  [[nodiscard]] virtual std::string endpoint() const = 0;
  [[nodiscard]] virtual const ZeromqPeerCounters& peers() const noexcept = 0;
  /// Images that no subscriber received, because the socket's thread did not take them in time.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;
};

/// Throws InputError for a bad name or address, RuntimeFault (naming the endpoint) if it cannot be bound.
[[nodiscard]] std::unique_ptr<ZeromqSink> make_zeromq_sink(const ZeromqSinkOptions& options);

}  // namespace echoform
