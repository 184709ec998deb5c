// What the sessions of the web server share. All of it belongs to the server's thread, but for what says otherwise.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "transport/web/image_board.hpp"
#include "transport/web/pending_replies.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {

class ViewerSession;

struct WebState {
  explicit WebState(const WebSinkOptions& given) : options(given), board(given.name, given.choice) {}

  WebSinkOptions options;
  ImageBoard board;  // any thread
  std::size_t connections = 0;
  std::set<ViewerSession*> viewers;
  std::atomic<std::size_t> viewer_count{0};      // any thread
  std::atomic<std::uint64_t> viewer_dropped{0};  // any thread
  std::mutex metrics_mutex;
  std::function<std::string()> metrics;                              // under its mutex
  std::function<void(std::string, WebSink::ControlAnswer)> control;  // under the same
  PendingReplies* replies = nullptr;

  [[nodiscard]] auto control_now() {
    const std::lock_guard lock(metrics_mutex);
    return control;
  }
};

/// Counts one connection for as long as it lives.
class ConnectionCount {
 public:
  explicit ConnectionCount(WebState& state) : state_(&state) { ++state_->connections; }
  ConnectionCount(ConnectionCount&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  ConnectionCount& operator=(ConnectionCount&&) = delete;
  ~ConnectionCount() {
    if (state_ != nullptr) --state_->connections;
  }

 private:
  WebState* state_;
};

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;

/// Answers requests on a connection until it closes or becomes a viewer's.
void serve_http(WebState& state, boost::asio::ip::tcp::socket socket);

/// Turns a connection that asked for it into a WebSocket and feeds it the images of `stream`.
void serve_viewer(WebState& state, boost::beast::tcp_stream stream, ConnectionCount count, HttpRequest request,
                  std::string stream_name);

/// Tells all viewers that the board has news.
void offer_news(WebState& state);

}  // namespace echoform
