#include "transport/publish/subscriber.hpp"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/sequence_tracker.hpp"
#include "transport/publish/image_message.hpp"
#include "transport/publish/message_inbox.hpp"
#include "transport/wire_numbers.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// A sequence number further ahead than this restarts the numbering, as for the server (proto/WIRE.md).
constexpr std::int64_t renumbering_step = 65'536;
constexpr std::size_t telemetry_limit = std::size_t{1} << 16;

// Keeps the last 65,536 values, for quantiles.
class RecentDurations {
 public:
  RecentDurations() { values_.reserve(capacity); }

  void add(std::int64_t value) {
    if (values_.size() < capacity) {
      values_.push_back(value);
    } else {
      values_[next_] = value;
      next_ = (next_ + 1) % capacity;
    }
  }

  // Value below which `fraction` of the values lie (nearest rank).
  nanoseconds quantile(double fraction) const {
    if (values_.empty()) return nanoseconds(0);
    std::vector<std::int64_t> sorted = values_;
    const auto rank = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(sorted.size() - 1) + 0.5);
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
    return nanoseconds(sorted[static_cast<std::size_t>(rank)]);
  }

 private:
  static constexpr std::size_t capacity = 65536;
  std::vector<std::int64_t> values_;
  std::size_t next_ = 0;
};

}  // namespace

struct ImageSubscriber::Implementation {
  explicit Implementation(const SubscriberOptions& given) : options(given) {
    zmq::socket_t socket =
        connect_subscriber(context, given.endpoint, given.stream.empty() ? "" : stream_prefix(given.stream),
                           static_cast<std::int64_t>(given.message_limit), given.keys, ConnectionWatch::endpoint);
    watch.emplace(context);
    inbox = given.latest_only ? inbox_of_the_newest(std::move(socket)) : inbox_of_all(std::move(socket));
  }

  /// Counts messages of several parts as malformed, like messages that are no Image.
  void count_dropped() {
    const std::uint64_t dropped = inbox->dropped();
    const std::uint64_t more = dropped - std::exchange(dropped_before, dropped);
    if (more == 0) return;
    statistics.messages += more;
    statistics.malformed += more;
    fault = "more than one part";
  }

  void count(const wire::Image& received, std::size_t bytes) {
    const auto now = SteadyClock::now();
    if (statistics.images == 0) first = now;
    last = now;
    ++statistics.images;
    statistics.bytes += bytes;
    const std::uint64_t sequence = received.sequence();
    if (statistics.sequences == 0 || sequence != last_sequence) {
      if (statistics.sequences != 0) {
        // The rule is the server's: a step back, or far ahead, restarts the numbering, and sequence numbers wrap around.
        const std::int64_t step = sequence_distance(last_sequence, sequence);
        if (step < 0 || step > renumbering_step) {
          ++statistics.restarts;
        } else {
          statistics.gaps += static_cast<std::uint64_t>(step - 1);
        }
      }
      const std::optional<std::uint64_t> places =
          received.has_scan_places() ? std::optional(received.scan_places()) : std::nullopt;
      if (statistics.sequences != 0) {
        if (places && places == last_places) {
          ++statistics.unchanged;
        } else {
          ++others_after_the_first;
        }
      }
      last_places = places;
      ++statistics.sequences;
      last_sequence = sequence;
    }
    // A peer may state any number; a value above one day is not a latency.
    constexpr std::int64_t day = 86'400'000'000'000;
    latency.add(static_cast<std::int64_t>(std::min<std::uint64_t>(received.latency(), day)));
    const std::int64_t wall = std::chrono::system_clock::now().time_since_epoch() / nanoseconds(1);
    if (received.publish_time() != 0 && received.publish_time() < static_cast<std::uint64_t>(wall) + day) {
      transport.add(std::clamp<std::int64_t>(wall - static_cast<std::int64_t>(received.publish_time()), 0, day));
    }
  }

  SubscriberOptions options;
  zmq::context_t context{1};
  std::optional<ConnectionWatch> watch;
  std::unique_ptr<MessageInbox> inbox;
  std::uint64_t dropped_before = 0;
  wire::Image image;
  std::string fault;
  SubscriberStatistics statistics;
  std::uint64_t last_sequence = 0;
  std::uint64_t others_after_the_first = 0;
  std::optional<std::uint64_t> last_places;
  SteadyClock::time_point first, last;
  RecentDurations latency, transport;
};

ImageSubscriber::ImageSubscriber(const SubscriberOptions& options) : implementation_(std::make_unique<Implementation>(options)) {}
ImageSubscriber::~ImageSubscriber() = default;

const wire::Image* ImageSubscriber::receive(std::chrono::milliseconds timeout) {
  auto& self = *implementation_;
  const auto deadline = SteadyClock::now() + timeout;
  for (;;) {
    const auto bytes = self.inbox->next(deadline);
    self.count_dropped();
    if (!bytes) return nullptr;
    ++self.statistics.messages;
    auto fault = parse_image(*bytes, self.image);
    if (!fault) {
      self.count(self.image, bytes->size());
      return &self.image;
    }
    ++self.statistics.malformed;
    self.fault = std::move(*fault);
    if (SteadyClock::now() >= deadline) return nullptr;  // a flood of malformed messages does not hold the caller
  }
}

SubscriberStatistics ImageSubscriber::statistics() const {
  const auto& self = *implementation_;
  SubscriberStatistics statistics = self.statistics;
  statistics.seconds = std::chrono::duration<double>(self.last - self.first).count();
  if (statistics.sequences > 1 && statistics.seconds > 0) {
    statistics.images_per_second = static_cast<double>(self.others_after_the_first) / statistics.seconds;
  }
  statistics.latency_p50 = self.latency.quantile(0.50);
  statistics.latency_p99 = self.latency.quantile(0.99);
  statistics.latency_maximum = self.latency.quantile(1.0);
  statistics.transport_p50 = self.transport.quantile(0.50);
  statistics.transport_p99 = self.transport.quantile(0.99);
  return statistics;
}

const std::string& ImageSubscriber::last_fault() const {
  return implementation_->fault;
}

ConnectionState ImageSubscriber::connection() {
  return implementation_->watch->state();
}

bool parse_telemetry(std::span<const std::byte> message, wire::Telemetry& telemetry) {
  if (message.size() > telemetry_limit) return false;
  const google::protobuf::LogSilencer silencer;  // malformed messages do not fill our log
  return parse_message(message, telemetry);
}

struct TelemetrySubscriber::Implementation {
  Implementation(const std::string& endpoint, const std::string& name, const std::optional<CurveClientKeys>& keys)
      : inbox(inbox_of_the_newest(
            connect_subscriber(context, endpoint, name.empty() ? "" : stream_prefix(name), telemetry_limit, keys))) {}
  zmq::context_t context{1};
  std::unique_ptr<MessageInbox> inbox;
  wire::Telemetry telemetry;
  std::uint64_t malformed = 0;
};

TelemetrySubscriber::TelemetrySubscriber(const std::string& endpoint, const std::string& name,
                                         const std::optional<CurveClientKeys>& keys)
    : implementation_(std::make_unique<Implementation>(endpoint, name, keys)) {}
TelemetrySubscriber::~TelemetrySubscriber() = default;

const wire::Telemetry* TelemetrySubscriber::receive(std::chrono::milliseconds timeout) {
  auto& self = *implementation_;
  const auto deadline = SteadyClock::now() + timeout;
  while (const auto bytes = self.inbox->next(deadline)) {
    if (parse_telemetry(*bytes, self.telemetry)) return &self.telemetry;
    ++self.malformed;
    if (SteadyClock::now() >= deadline) return nullptr;
  }
  return nullptr;
}

std::uint64_t TelemetrySubscriber::malformed() const {
  return implementation_->malformed + implementation_->inbox->dropped();
}

}  // namespace echoform
