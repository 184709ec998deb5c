#include "transport/publish/zeromq_sink.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/publish/image_message.hpp"
#include "transport/publish/message_buffer.hpp"
#include "transport/publish/publisher_socket.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_queued = 1000;  // messages that may wait for one subscriber

// Number of messages that may wait for one subscriber. It is fixed before the first subscriber comes. libzmq 4.3.4 passes a
// changed limit on to the other half of every connection without checking that it still exists. If its subscriber has left, this
// ends the program.
std::size_t queue_length(const ZeromqSinkOptions& options) {
  const std::size_t messages = std::max<std::size_t>(1, options.images_per_frame);
  return std::clamp(options.bytes_per_subscriber / std::max<std::size_t>(1, options.image_bytes), 2 * messages,
                    std::max(most_queued, 2 * messages));
}

PublisherSocketOptions socket_options(const ZeromqSinkOptions& options) {
  const std::size_t queued = queue_length(options);
  // The queue to the socket's thread is as long as the queue of a subscriber.
  return {.what = "image publisher",
          .thread = "images-zmq",
          .address = options.address,
          .port = options.port,
          .queued = queued,
          .handed_over = queued,
          .subscribers = options.subscribers,
          .keys = options.keys};
}

class ZeromqSinkImplementation final : public ZeromqSink {
 public:
  explicit ZeromqSinkImplementation(const ZeromqSinkOptions& options)
      : options_(options),
        writer_(options.name, options.choice),
        queued_(queue_length(options)),
        socket_(socket_options(options)) {}

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override {
    const std::lock_guard lock(mutex_);
    writer_.set_setup(*setup);
    warn_of_large_images();
    prepare_buffers();
    std::vector<std::string> envelopes;
    for (const StreamDescription& stream : writer_.streams()) {
      if (!stream.display) envelopes.push_back(stream_prefix(stream.name));
    }
    socket_.follow(std::move(envelopes));
  }

  void stream_ended() override {
    const std::lock_guard lock(mutex_);
    std::erase_if(buffers_, [](const auto& buffer) { return !buffer->taken(); });
  }

  void publish(const FinishedFrame& frame) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      for (std::size_t i = 0; i < writer_.streams().size(); ++i) {
        const std::size_t bytes = writer_.prepare(frame, i);
        if (bytes == 0 || socket_.full()) continue;
        MessageBuffer& buffer = buffer_of(bytes);
        writer_.write(buffer.message());
        socket_.offer(buffer);
      }
    } catch (const std::exception& error) {
      if (!std::exchange(complained_, true)) {
        spdlog::error("image publisher: {}; further errors are not repeated", error.what());
      }
    }
    socket_.wake();
  }

  bool wants_envelope() noexcept override { return socket_.wanted(); }
  std::string describe() const override { return endpoint(); }
  std::uint16_t port() const noexcept override { return socket_.port(); }
  const ZeromqPeerCounters& peers() const noexcept override { return socket_.peers(); }
  std::uint64_t dropped() const noexcept override { return socket_.lost(); }
  std::string endpoint() const override { return socket_.endpoint(); }

 private:
  // The queues keep their lengths when live control makes images larger than the configured grid.
  void warn_of_large_images() const {
    if (writer_.capacity() / 2 <= std::max<std::size_t>(1, options_.image_bytes)) return;  // as large as configured
    const std::size_t waiting = queued_ * writer_.capacity();
    if (queued_ <= 2 * writer_.streams().size() || waiting / 2 <= options_.bytes_per_subscriber) return;
    spdlog::warn(
        "image publisher: {:.0f} MB of images may wait for subscribers, beyond [server] subscriber_bytes, since images are "
        "larger than when it started",
        1e-6 * static_cast<double>(waiting));
  }

  // Provides buffers for the frame being written, the one being sent and as many as one slow subscriber may have waiting (up to a
  // limit). What several slow subscribers hold beyond that is allocated for each message.
  void prepare_buffers() {
    const std::size_t messages = writer_.streams().size();
    const std::size_t count = std::min(queued_, std::size_t{6} * messages) + 2 * messages;
    std::erase_if(buffers_, [&](const auto& buffer) { return buffer->capacity() != writer_.capacity() && !buffer->taken(); });
    std::size_t usable = 0;
    for (const auto& buffer : buffers_) usable += buffer->capacity() == writer_.capacity() ? 1U : 0U;
    for (; usable < count; ++usable) buffers_.push_back(std::make_unique<MessageBuffer>(writer_.capacity()));
    next_ = 0;
  }

  MessageBuffer& buffer_of(std::size_t bytes) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      MessageBuffer& buffer = *buffers_[next_];
      next_ = (next_ + 1) % buffers_.size();
      if (buffer.capacity() >= bytes && buffer.take(bytes)) return buffer;
    }
    return MessageBuffer::for_one_message(bytes);
  }

  ZeromqSinkOptions options_;
  std::mutex mutex_;  // shared by the pipeline's threads; the socket's thread does not lock it
  ImageMessageWriter writer_;
  std::vector<std::unique_ptr<MessageBuffer>> buffers_;
  std::size_t next_ = 0;
  std::size_t queued_;
  bool complained_ = false;
  PublisherSocket socket_;  // destroyed before the buffers, which libzmq uses until then
};

}  // namespace

std::unique_ptr<ZeromqSink> make_zeromq_sink(const ZeromqSinkOptions& options) {
  return std::make_unique<ZeromqSinkImplementation>(options);
}

}  // namespace echoform
