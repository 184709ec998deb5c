// The receiving end of the publishers: receives images and telemetry, checks them, and keeps statistics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "proto/image.pb.h"
#include "proto/telemetry.pb.h"
#include "transport/zeromq/connection_watch.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {

struct SubscriberOptions {
  std::string endpoint = "tcp://127.0.0.1:17180";
  /// Exact name of the stream, "echoform" or "echoform.display"; empty for every stream of the publisher.
  std::string stream = "echoform";
  /// Whether only the newest message waits, so that a slow reader skips images instead of falling behind. Set it to false to
  /// count everything that was sent.
  bool latest_only = true;
  std::size_t message_limit = std::size_t{256} << 20;  ///< a publisher that sends more is disconnected
  std::optional<CurveClientKeys> keys{};               ///< for a publisher with CURVE
};

struct SubscriberStatistics {
  std::uint64_t messages = 0;   ///< all that came
  std::uint64_t malformed = 0;  ///< skipped: not an Image, one that contradicts itself, several parts
  std::uint64_t images = 0;     ///< messages - malformed
  std::uint64_t sequences = 0;  ///< distinct sequences among the images
  std::uint64_t unchanged = 0;  ///< of the sequences: images of a scan that equal the image received before
  std::uint64_t gaps = 0;       ///< sequences that were passed over
  std::uint64_t restarts = 0;   ///< the sequence went back: the source began anew
  std::uint64_t bytes = 0;
  double seconds = 0.0;            ///< from the first image to the last
  double images_per_second = 0.0;  ///< of sequences after the first, those that are another image, / seconds
  /// Last byte of the frame to its publication, as the publisher states it; over the last 65,536 images.
  std::chrono::nanoseconds latency_p50{0}, latency_p99{0}, latency_maximum{0};
  /// Publication to arrival, by the wall clocks of both ends: on one host only.
  std::chrono::nanoseconds transport_p50{0}, transport_p99{0};
};

/// One thread at a time.
class ImageSubscriber {
 public:
  /// Returns before the publisher is reached; connecting, and reconnecting with back-off, is libzmq's. InputError if the
  /// endpoint is malformed.
  explicit ImageSubscriber(const SubscriberOptions& options);
  ~ImageSubscriber();
  ImageSubscriber(const ImageSubscriber&) = delete;
  ImageSubscriber& operator=(const ImageSubscriber&) = delete;

  /// The next well-formed image, valid until the next call; nullptr if none comes within `timeout`.
  [[nodiscard]] const wire::Image* receive(std::chrono::milliseconds timeout);
  [[nodiscard]] SubscriberStatistics statistics() const;
  /// What was wrong with the last malformed message; empty if none came.
  [[nodiscard]] const std::string& last_fault() const;
  /// Whether the publisher answers.
  [[nodiscard]] ConnectionState connection();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Parses a message that a peer sent into `telemetry`, reusing its memory; false where it is not one.
[[nodiscard]] bool parse_telemetry(std::span<const std::byte> message, wire::Telemetry& telemetry);

/// Telemetry messages of one publisher. One thread at a time.
class TelemetrySubscriber {
 public:
  /// `name` selects one server's telemetry; empty for any.
  explicit TelemetrySubscriber(const std::string& endpoint, const std::string& name = "",
                               const std::optional<CurveClientKeys>& keys = std::nullopt);
  ~TelemetrySubscriber();
  TelemetrySubscriber(const TelemetrySubscriber&) = delete;
  TelemetrySubscriber& operator=(const TelemetrySubscriber&) = delete;

  /// The newest message, valid until the next call; nullptr if none comes within `timeout`.
  [[nodiscard]] const wire::Telemetry* receive(std::chrono::milliseconds timeout);
  /// Messages that were no telemetry, and messages of several parts.
  [[nodiscard]] std::uint64_t malformed() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace echoform
