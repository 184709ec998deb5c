#include "transport/publish/publisher_socket.hpp"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>

#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

/// Number of subscriptions that are read before the messages that were passed on meanwhile are sent.
constexpr int subscriptions_at_once = 64;

void give_back(void* /*memory*/, void* buffer) {
  static_cast<MessageBuffer*>(buffer)->give_back();
}

}  // namespace

PublisherSocket::PublisherSocket(const PublisherSocketOptions& options)
    : what_(options.what),
      address_(options.address),
      bell_(options.what),
      waiting_(options.handed_over),
      context_(options.keys),
      subscriptions_(context_),
      socket_(bind_publisher(context_, options.address, options.port, static_cast<int>(options.queued), options.what,
                             options.subscribers)),
      port_(bound_port(socket_)) {
  worker_.emplace(WorkerOptions{options.thread, {}}, [this](const std::stop_token& stop) { run(stop); });
}

PublisherSocket::~PublisherSocket() {
  worker_->request_stop();
  bell_.ring();
  worker_.reset();
}

bool PublisherSocket::full() noexcept {
  if (waiting_.size() < waiting_.capacity()) return false;
  lost_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool PublisherSocket::offer(MessageBuffer& message) noexcept {
  if (waiting_.offer(&message).on_edge()) return true;
  lost_.fetch_add(1, std::memory_order_relaxed);
  message.give_back();
  return false;
}

std::string PublisherSocket::endpoint() const {
  return connectable_endpoint(address_, port_);
}

void PublisherSocket::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      // This call lets libzmq process what subscribers have sent, and forget those that have left.
      const bool subscriptions = (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
      context_.let_newcomers_in();
      if (subscriptions) {
        subscriptions_.read(socket_, subscriptions_at_once);
      } else if (waiting_.size() == 0) {
        while (!wait_for_events(socket_, bell_)) context_.let_newcomers_in();
      }
      send_waiting();
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      spdlog::error("{}: {}; nothing more is published", what_, error.what());
      break;
    } catch (const std::exception& error) {  // out of memory, for example
      if (!std::exchange(complained_, true)) spdlog::error("{}: {}; further errors are not repeated", what_, error.what());
    }
  }
  try {
    send_waiting();
  } catch (const std::exception& error) {
    spdlog::error("{}: {}", what_, error.what());
  }
  while (const auto left = waiting_.try_take()) (*left)->give_back();
  socket_.close();
}

void PublisherSocket::send_waiting() {
  while (const auto next = waiting_.try_take()) {
    // This query makes libzmq notice what subscribers have read. By itself it does so only about once in a millisecond, and with
    // a short queue it drops messages even for a subscriber that keeps up.
    (void)socket_.get(zmq::sockopt::events);
    send(**next);
  }
}

void PublisherSocket::send(MessageBuffer& buffer) {
  const auto bytes = buffer.message();
  zmq::message_t message;
  try {
    message.rebuild(bytes.data(), bytes.size(), give_back, &buffer);
  } catch (...) {
    buffer.give_back();
    throw;
  }
  // The call never waits: libzmq drops the message for subscribers whose queue is full.
  (void)socket_.send(message, zmq::send_flags::dontwait);
}

}  // namespace echoform
