#include "transport/publish/message_inbox.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/wake_bell.hpp"
#include "base/worker.hpp"

namespace echoform {
namespace {

std::span<const std::byte> bytes_of(const zmq::message_t& message) {
  return {static_cast<const std::byte*>(message.data()), message.size()};
}

/// Reads the other parts of the message whose first part has been read. True if there were any.
bool skip_other_parts(zmq::socket_t& socket, const zmq::message_t& first) {
  if (!first.more()) return false;
  zmq::message_t part;
  do {
    static_cast<void>(socket.recv(part));  // does not block: libzmq delivers messages whole
  } while (part.more());
  return true;
}

class AllMessages final : public MessageInbox {
 public:
  explicit AllMessages(zmq::socket_t socket) : socket_(std::move(socket)) {}

  std::optional<std::span<const std::byte>> next(Deadline deadline) override {
    do {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Deadline::clock::now());
      socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
      if (!socket_.recv(message_)) return std::nullopt;
      if (!skip_other_parts(socket_, message_)) return bytes_of(message_);
      ++dropped_;
    } while (Deadline::clock::now() < deadline);
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }

 private:
  zmq::socket_t socket_;
  zmq::message_t message_;
  std::uint64_t dropped_ = 0;
};

class NewestMessage final : public MessageInbox {
 public:
  explicit NewestMessage(zmq::socket_t socket)
      : socket_(std::move(socket)), thread_({"ef-newest", {}}, [this](const std::stop_token& stop) { read(stop); }) {}
  ~NewestMessage() override {
    thread_.request_stop();
    bell_.ring();
    thread_.join();
  }

  std::optional<std::span<const std::byte>> next(Deadline deadline) override {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, deadline, [this] { return there_; })) return std::nullopt;
    there_ = false;
    message_.swap(newest_);
    return bytes_of(message_);
  }
  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }

 private:
  void read(const std::stop_token& stop) {
    zmq::message_t message;
    while (!stop.stop_requested()) try {
        std::array<zmq::pollitem_t, 2> items{
            {{nullptr, bell_.descriptor(), ZMQ_POLLIN, 0}, {socket_.handle(), 0, ZMQ_POLLIN, 0}}};
        zmq::poll(items.data(), items.size(), std::chrono::milliseconds(-1));
        while (!stop.stop_requested() && socket_.recv(message, zmq::recv_flags::dontwait)) {
          if (skip_other_parts(socket_, message)) {
            ++dropped_;
            continue;
          }
          const std::lock_guard lock(mutex_);
          newest_.swap(message);
          there_ = true;
          arrived_.notify_one();
        }
      } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) return;  // nothing more comes, as from a publisher that has gone
      }
  }

  zmq::socket_t socket_;  // used by the thread
  const WakeBell bell_{"subscriber"};
  std::mutex mutex_;
  std::condition_variable arrived_;
  zmq::message_t newest_;
  bool there_ = false;
  std::atomic<std::uint64_t> dropped_{0};
  zmq::message_t message_;  // used by the caller
  Worker thread_;
};

}  // namespace

std::unique_ptr<MessageInbox> inbox_of_all(zmq::socket_t socket) {
  return std::make_unique<AllMessages>(std::move(socket));
}

std::unique_ptr<MessageInbox> inbox_of_the_newest(zmq::socket_t socket) {
  return std::make_unique<NewestMessage>(std::move(socket));
}

}  // namespace echoform
