#include "transport/publish/zeromq_sink.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/publish/image_message.hpp"
#include "transport/zeromq/socket.hpp"
#include "transport/zeromq/subscriptions.hpp"

namespace echoform {
namespace {

constexpr std::size_t most_queued = 1000;  // messages that may wait for one subscriber

// Messages are sent from reusable memory; libzmq gives it back, from its own thread, when the last subscriber has it.
struct SendBuffer {
  explicit SendBuffer(std::size_t size) : memory(std::make_unique_for_overwrite<std::byte[]>(size)), capacity(size) {}

  static void release(void*, void* self) { static_cast<SendBuffer*>(self)->busy.store(false, std::memory_order_release); }

  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity;
  std::atomic<bool> busy{false};
};

// How many messages may wait for one subscriber. Settled before the first comes: libzmq 4.3.4 hands a changed limit on to the
// other half of every connection without looking whether that, its subscriber having left, is gone already; which ends the
// program.
std::size_t queue_length(const ZeromqSinkOptions& options) {
  const std::size_t messages = std::max<std::size_t>(1, options.images_per_frame);
  return std::clamp(options.bytes_per_subscriber / std::max<std::size_t>(1, options.image_bytes), 2 * messages,
                    std::max(most_queued, 2 * messages));
}

class ZeromqSinkImplementation final : public ZeromqSink {
 public:
  explicit ZeromqSinkImplementation(const ZeromqSinkOptions& options)
      : options_(options),
        writer_(options.name, options.choice),
        context_(options.keys),
        queued_(queue_length(options)),
        socket_(bind_publisher(context_, options.address, options.port, static_cast<int>(queued_), "image publisher",
                               zmq::socket_type::xpub, options.subscribers)),
        port_(bound_port(socket_)) {
    // Frames take the subscriptions with them; while none run, nobody else would.
    context_.every_second([this] {
      if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) look_at_subscriptions();
    });
  }
  ~ZeromqSinkImplementation() override { context_.every_second({}); }
  ZeromqSinkImplementation(const ZeromqSinkImplementation&) = delete;
  ZeromqSinkImplementation& operator=(const ZeromqSinkImplementation&) = delete;

  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override {
    const std::lock_guard lock(mutex_);
    writer_.set_setup(*setup);
    warn_of_large_images();
    prepare_buffers();
    note_wishes();
  }

  void stream_ended() override {
    const std::lock_guard lock(mutex_);
    std::erase_if(buffers_, [](const auto& buffer) { return !buffer->busy.load(std::memory_order_acquire); });
  }

  void publish(const FinishedFrame& frame) noexcept override {
    const std::lock_guard lock(mutex_);
    try {
      // Asking makes libzmq take note of what subscribers have read; by itself it does so only once in a millisecond or so, and
      // drops for one that keeps up meanwhile, if its queue is short.
      look_at_subscriptions();
      for (std::size_t i = 0; i < writer_.streams().size(); ++i) {
        const std::size_t bytes = writer_.prepare(frame, i);
        if (bytes == 0) continue;
        zmq::message_t message = message_of(bytes);
        writer_.write({static_cast<std::byte*>(message.data()), bytes});
        // A PUB socket never waits: it drops for subscribers whose queue is full.
        (void)socket_.send(message, zmq::send_flags::dontwait);
      }
    } catch (const std::exception& error) {
      if (!complained_) spdlog::error("image publisher: {}; further errors are not repeated", error.what());
      complained_ = true;
    }
  }

  bool wants_envelope() noexcept override {
    // Asked here too, so that who subscribes before a frame is imaged gets it. While another frame is being sent, the answer
    // of a moment ago will do.
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
      try {
        look_at_subscriptions();
      } catch (const std::exception&) {
        return true;
      }
    }
    return wants_envelope_.load(std::memory_order_relaxed);
  }
  std::string describe() const override { return endpoint(); }
  std::uint16_t port() const noexcept override { return port_; }
  const ZeromqPeerCounters& peers() const noexcept override { return context_.peers(); }
  std::string endpoint() const override { return connectable_endpoint(options_.address, port_); }

 private:
  void look_at_subscriptions() {
    if ((socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) == 0) return;
    subscriptions_.read(socket_);
    note_wishes();
  }

  void note_wishes() {
    bool wanted = false;
    for (const StreamDescription& stream : writer_.streams()) {
      wanted = wanted || (!stream.display && subscriptions_.wanted(stream_prefix(stream.name)));
    }
    wants_envelope_.store(wanted, std::memory_order_relaxed);
  }

  // Images that outgrow the configured grid, by live control, find the queues as long as they were.
  void warn_of_large_images() const {
    if (writer_.capacity() / 2 <= std::max<std::size_t>(1, options_.image_bytes)) return;  // as large as configured
    const std::size_t waiting = queued_ * writer_.capacity();
    if (queued_ <= 2 * writer_.streams().size() || waiting / 2 <= options_.bytes_per_subscriber) return;
    spdlog::warn(
        "image publisher: {:.0f} MB of images may wait for subscribers, beyond [server] subscriber_bytes, since images are "
        "larger than when it started",
        1e-6 * static_cast<double>(waiting));
  }

  // Enough for the frame being written, the one on its way and as many as one slow subscriber may have waiting (up to a
  // limit); what several slow subscribers hold beyond that comes from libzmq's own allocation.
  void prepare_buffers() {
    const std::size_t messages = writer_.streams().size();
    const std::size_t count = std::min(queued_, std::size_t{6} * messages) + 2 * messages;
    std::erase_if(buffers_, [&](const auto& buffer) {
      return buffer->capacity != writer_.capacity() && !buffer->busy.load(std::memory_order_acquire);
    });
    std::size_t usable = 0;
    for (const auto& buffer : buffers_) usable += buffer->capacity == writer_.capacity() ? 1U : 0U;
    for (; usable < count; ++usable) buffers_.push_back(std::make_unique<SendBuffer>(writer_.capacity()));
    next_ = 0;
  }

  zmq::message_t message_of(std::size_t bytes) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      SendBuffer& buffer = *buffers_[next_];
      next_ = (next_ + 1) % buffers_.size();
      if (buffer.capacity < bytes || buffer.busy.load(std::memory_order_acquire)) continue;
      buffer.busy.store(true, std::memory_order_relaxed);
      try {
        return {buffer.memory.get(), bytes, &SendBuffer::release, &buffer};
      } catch (...) {
        buffer.busy.store(false, std::memory_order_relaxed);
        throw;
      }
    }
    return zmq::message_t(bytes);
  }

  ZeromqSinkOptions options_;
  std::mutex mutex_;  // the socket's too: libzmq lets it change threads under one
  ImageMessageWriter writer_;
  std::vector<std::unique_ptr<SendBuffer>> buffers_;
  std::size_t next_ = 0;
  ZeromqContext context_;  // goes before the buffers, which libzmq holds on to until then
  std::size_t queued_;
  Subscriptions subscriptions_{context_};
  zmq::socket_t socket_;
  std::uint16_t port_;
  bool complained_ = false;
  std::atomic<bool> wants_envelope_{false};
};

}  // namespace

std::unique_ptr<ZeromqSink> make_zeromq_sink(const ZeromqSinkOptions& options) {
  return std::make_unique<ZeromqSinkImplementation>(options);
}

}  // namespace echoform
