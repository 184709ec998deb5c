// The web viewer's server: the page, a WebSocket image feed, metrics. One thread of its own; the pipeline never waits for it.
//
//   GET /                      the viewer page
//   GET /streams.json          {"name": ..., "streams": [{"name", "view", "encoding", "pixels"} ...]}, with
//                              "axes": [across, down] of a stream whose axes are not x and z in metres,
//                              "quantity": [name, unit] of one whose pixels are not amplitudes, and
//                              "control": true where POST /control is answered
//   GET /images?stream=NAME    WebSocket. Each binary message is an Image; the client says "ready" (text) for each image that it
//                              wants after the first, and may be one ahead: two images on their way at most. The newest wins.
//                              stream=NAME up to four times: images of these streams in turn, and all numbers are of each of
//                              them. With `together` they come of one frame at a time, in the order in which they are asked for;
//                              only the first ones are whatever there is.
//   GET /metrics               Prometheus text
//   POST /control              a ControlRequest as JSON, answered with a ControlReply as JSON: see control.proto
//   GET /healthz               "ok" while the server's thread runs
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/image_sink.hpp"
#include "transport/peers/peer_counters.hpp"
#include "transport/publish/image_message.hpp"

namespace echoform {

struct WebSinkOptions {
  std::string name = "echoform";      ///< streams are called after it: see publish/image_message.hpp
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6 address to listen on
  std::uint16_t port = 8080;          ///< 0: any free one
  StreamChoice choice{};              ///< which images to offer
  /// The token, at most 256 bytes; empty: none. It is required everywhere but on /healthz: as ?token=... in the page's
  /// address (the page hands it on), or in a header "Authorization: Bearer ...".
  std::string token{};
  /// Maximum number of connections at once. A connection that waits for its client is closed in favour of a new one; if
  /// there is none, the new one is answered 503. One address may have at most half of the connections; loopback addresses
  /// are not limited so.
  std::size_t connections = 64;
  std::size_t viewers = 16;                           ///< of which WebSocket clients
  std::size_t header_bytes = 8192;                    ///< of a request, at most
  std::size_t control_bytes = 16384;                  ///< of a control request, at most
  std::chrono::milliseconds request_timeout{10'000};  ///< for a request to arrive, a response to leave, an idle connection
  std::chrono::milliseconds viewer_timeout{20'000};   ///< a viewer that reads nothing for so long is disconnected
  /// Host names by which browsers may ask for the page, besides numeric addresses, "localhost" and this host's own name:
  /// keeps pages of other sites, whose name they point at this address, from reading the images.
  std::vector<std::string> host_names{};
  /// PEM files; with both the server speaks HTTPS, and nothing else. See tls.hpp.
  std::string tls_certificate{};
  std::string tls_key{};
};

class WebSink : public ImageSink {
 public:
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// "http://127.0.0.1:8080/" (https over TLS), with the token where one is asked for: what a user opens.
  [[nodiscard]] virtual std::string url() const = 0;
  /// What /metrics answers with; called on the server's thread. 503 until it is given.
  virtual void set_metrics(std::function<std::string()> text) = 0;
  /// What answers the body of POST /control: called on the server's thread, it returns at once; `answer` takes an HTTP status and
  /// JSON, once, on any thread and at any time. None: 404.
  using ControlAnswer = std::function<void(unsigned status, std::string json)>;
  virtual void set_control(std::function<void(std::string body, ControlAnswer answer)> control) = 0;
  /// When the last frame was published; 0 before the first.
  [[nodiscard]] virtual WallTime last_frame_time() const noexcept = 0;
  /// WebSocket clients connected.
  [[nodiscard]] virtual std::size_t viewers() const noexcept = 0;
  /// Images that a viewer did not take before a newer one came, over all viewers.
  [[nodiscard]] virtual std::uint64_t viewer_dropped() const noexcept = 0;
  /// Connections, and refused peers.
  [[nodiscard]] virtual const PeerCounters& peers() const noexcept = 0;
  /// Number of buffers for images. It is bounded by the number of streams and connected viewers, whatever the viewers do.
  [[nodiscard]] virtual std::size_t image_buffers() const = 0;
};

/// Binds and starts serving. Throws InputError for a bad name, address, certificate or key, RuntimeFault (naming the address) if
/// it cannot be bound. Destroying the sink closes all connections.
[[nodiscard]] std::unique_ptr<WebSink> make_web_sink(const WebSinkOptions& options);

}  // namespace echoform
