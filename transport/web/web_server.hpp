// What the sessions of the web server share. All of it belongs to the server's thread, except for members whose comment
// states another thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "transport/peers/peer_book.hpp"
#include "transport/peers/refusal_log.hpp"
#include "transport/web/image_board.hpp"
#include "transport/web/pending_replies.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {

struct WebState;

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

/// A WebSocket client.
class Viewer {
 public:
  virtual ~Viewer() = default;
  /// Called when the board has new images.
  virtual void offer() = 0;
};

/// A connection whose client is expected to send something. When the maximum number of connections is open, the one that has
/// waited longest is closed for a new one. So silent clients do not keep out clients that send.
class WaitingConnection {
 public:
  explicit WaitingConnection(WebState& state) : waiting_in_(state) {}
  WaitingConnection(const WaitingConnection&) = delete;
  WaitingConnection& operator=(const WaitingConnection&) = delete;
  void yield() {
    stop_waiting();
    give_way();
  }

 protected:
  ~WaitingConnection() { stop_waiting(); }
  virtual void give_way() = 0;
  void wait();
  void stop_waiting();

 private:
  WebState& waiting_in_;
  std::list<WaitingConnection*>::iterator place_;
  bool waiting_ = false;
};

struct WebState {
  explicit WebState(const WebSinkOptions& given) : options(given), board(given.name, given.choice), book(book_limits(given)) {}

  // The total number of connections is limited elsewhere, since a waiting connection may be closed for a new one.
  static PeerLimits book_limits(const WebSinkOptions& options) {
    PeerLimits limits;
    limits.connections = std::numeric_limits<std::size_t>::max();
    limits.per_address = (options.connections + 1) / 2;
    return limits;
  }

  WebSinkOptions options;
  std::unique_ptr<boost::asio::ssl::context> tls;  // none: plain HTTP
  ImageBoard board;                                // any thread
  PeerBook book;
  std::size_t connections = 0;
  std::list<WaitingConnection*> waiting;  // the longest first
  std::set<Viewer*> viewers;
  PeerCounters peers;                            // any thread
  std::atomic<std::size_t> viewer_count{0};      // any thread
  std::atomic<std::uint64_t> viewer_dropped{0};  // any thread
  std::mutex metrics_mutex;
  std::function<std::string()> metrics;                              // under its mutex
  std::function<void(std::string, WebSink::ControlAnswer)> control;  // under the same
  PendingReplies* replies = nullptr;
  RefusalLog refusals{"web server"};

  /// Counts and logs a peer that is refused or disconnected.
  void refuse(PeerRefusal reason, const boost::asio::ip::address& address) {
    peers.refuse(reason);
    refusals.refused(reason, address.to_string());
  }

  [[nodiscard]] auto control_now() {
    const std::lock_guard lock(metrics_mutex);
    return control;
  }
};

/// Counts one connection of an address for as long as it lives.
class ConnectionCount {
 public:
  ConnectionCount(WebState& state, boost::asio::ip::address address) : state_(&state), address_(std::move(address)) {
    state_->peers.open = ++state_->connections;
  }
  ConnectionCount(ConnectionCount&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), address_(std::move(other.address_)) {}
  ConnectionCount& operator=(ConnectionCount&&) = delete;
  ~ConnectionCount() {
    if (state_ == nullptr) return;
    state_->peers.open = --state_->connections;
    state_->book.leave(address_);
  }
  [[nodiscard]] const boost::asio::ip::address& address() const noexcept { return address_; }

 private:
  WebState* state_;
  boost::asio::ip::address address_;
};

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;

/// Answers requests on a connection until it closes or becomes a viewer's. Over TLS where the server has it.
void serve_http(WebState& state, boost::asio::ip::tcp::socket socket, ConnectionCount count);

/// What a viewer asks for.
struct WatchedStreams {
  std::vector<std::string> names;  ///< none is the first stream, whatever it is called
  bool together = false;  ///< whether images of all of them come of one frame at a time, or in turn where several have news
};

/// Turns a connection that asked for it into a WebSocket and feeds it the images of `streams`.
void serve_viewer(WebState& state, PlainStream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams);
void serve_viewer(WebState& state, TlsStream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams);

/// Informs all viewers that the board has new images.
void offer_news(WebState& state);

}  // namespace echoform
