#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/web/web_server.hpp"
#include "transport/zeromq/received_bytes.hpp"

namespace echoform {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

namespace {

// A client sends one message for each image, and it sends and answers pings. Somewhat more of each is tolerated.
constexpr int most_ready = 16;
// Images of each stream that a client may have requested and not yet received. With one extra request, the next image is on its
// way while the client shows the last one.
constexpr int most_ahead = 2;
constexpr double most_pings = 32.0;  // including pongs
constexpr double pings_per_second = 4.0;
// Limits of received bytes that never become a message, such as fragments without contents: a number for each second, and a
// number for each message that was received. A "ready" takes 11 bytes, and a TLS record around it.
constexpr std::uint64_t most_idle_bytes = 4096;
constexpr std::uint64_t most_message_bytes = 64;

// One WebSocket client. Each "ready" requests one image; the first image needs no request. Images that were not requested are not
// sent.
template <class Stream>
class ViewerSession final : public Viewer, public std::enable_shared_from_this<ViewerSession<Stream>> {
 public:
  ViewerSession(WebState& state, Stream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams)
      : state_(state),
        names_(std::move(streams.names)),
        together_(streams.together),
        count_(std::move(count)),
        socket_(std::move(stream)),
        request_(std::move(request)),
        second_(socket_.get_executor()) {
    if (names_.empty()) names_.emplace_back();
    for (const std::string& name : names_) {
      state_.board.join(name);
      const std::uint64_t newest = state_.board.newest(name);
      // The image that already exists is sent first.
      feeds_.push_back({name, newest > 0 ? newest - 1 : 0});
    }
    ready_ = static_cast<int>(feeds_.size());
    state_.viewers.insert(this);
    state_.viewer_count = state_.viewers.size();
  }

  ~ViewerSession() override {
    lease_.reset();
    frame_.clear();
    state_.viewers.erase(this);
    state_.viewer_count = state_.viewers.size();
    for (const Feed& feed : feeds_) state_.board.leave(feed.name);
  }

  void start() {
    beast::get_lowest_layer(socket_).expires_never();  // the WebSocket has its own time-outs
    // A client that neither sends nor answers pings, because it hangs or reads nothing, is disconnected.
    socket_.set_option(websocket::stream_base::timeout{state_.options.request_timeout, state_.options.viewer_timeout, true});
    socket_.auto_fragment(false);  // an image leaves in one frame, straight from its buffer
    socket_.binary(true);
    socket_.read_message_max(64);
    socket_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind != websocket::frame_type::close && !ping_allowed()) flooded();
    });
    received_bytes_ = received_bytes(beast::get_lowest_layer(socket_).socket().native_handle());
    watch();
    socket_.async_accept(request_, [self = this->shared_from_this()](error_code error) {
      if (error) return;
      self->read();
      self->open_ = true;
      self->offer();
    });
  }

  void offer() override {
    if (together_) return offer_frame();
    // Streams take turns, beginning with the one after the last that was sent, so that none delays the others.
    const std::size_t first = turn_;
    for (std::size_t k = 0; k < feeds_.size(); ++k) {
      Feed& feed = feeds_[(first + k) % feeds_.size()];
      const std::uint64_t newest = state_.board.newest(feed.name);
      if (newest <= feed.accounted) continue;
      if (!open_ || ready_ == 0 || lease_) {
        account(feed, newest - 1);  // the newest waits
        continue;
      }
      std::uint64_t number = newest;
      lease_ = state_.board.take(feed.name, number);
      if (!lease_) continue;
      sent(feed, number);
      turn_ = (first + k + 1) % feeds_.size();
      send();
    }
  }

 private:
  struct Feed {
    std::string name;
    std::uint64_t accounted = 0;  // images up to this one are sent or counted as dropped
  };

  // This viewer loses the images before the one that is sent or waits.
  void account(Feed& feed, std::uint64_t number) {
    state_.viewer_dropped += number - feed.accounted;
    feed.accounted = number;
  }
  void sent(Feed& feed, std::uint64_t number) {
    account(feed, number - 1);
    feed.accounted = number;
  }

  // Sends the images of all streams together, once that many images are requested and the last image of the previous frame has
  // been sent.
  void offer_frame() {
    const auto newest = [this](const Feed& feed) { return state_.board.newest(feed.name); };
    if (std::ranges::none_of(feeds_, [&](const Feed& feed) { return newest(feed) > feed.accounted; })) return;
    if (open_ && ready_ >= static_cast<int>(feeds_.size()) && !lease_) {
      state_.board.take_frame(names_, std::exchange(first_, false), frame_);
      for (std::size_t k = 0; k < frame_.size(); ++k) {
        if (frame_[k].lease && frame_[k].number > feeds_[k].accounted) sent(feeds_[k], frame_[k].number);
      }
      std::ranges::reverse(frame_);
      send_next();
    }
    for (Feed& feed : feeds_) {
      if (newest(feed) > feed.accounted) account(feed, newest(feed) - 1);
    }
  }
  // Sends the next image of the current frame; false if all of them have been sent.
  bool send_next() {
    while (!frame_.empty() && !lease_) {
      lease_ = std::move(frame_.back().lease);
      frame_.pop_back();
    }
    if (lease_) send();
    return static_cast<bool>(lease_);
  }

  void send() {
    --ready_;
    said_ready_ = 0;
    const auto message = lease_.message();
    socket_.async_write(asio::buffer(message.data(), message.size()),
                        [self = this->shared_from_this()](error_code error, std::size_t) {
                          self->lease_.reset();
                          if (error) return;
                          if (!self->send_next()) self->offer();
                        });
  }

  // The WebSocket does not report bytes that are no message, and goes on reading. This counts them, once a second.
  void watch() {
    second_.expires_after(std::chrono::seconds(1));
    second_.async_wait([weak = this->weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (error || !self || self->cut_off_) return;
      const auto now = received_bytes(beast::get_lowest_layer(self->socket_).socket().native_handle());
      const std::uint64_t allowed = most_idle_bytes + most_message_bytes * std::exchange(self->messages_, 0);
      if (now && self->received_bytes_ && *now - *self->received_bytes_ > allowed) return self->flooded();
      self->received_bytes_ = now;
      self->watch();
    });
  }

  void read() {
    socket_.async_read(received_, [self = this->shared_from_this()](error_code error, std::size_t) { self->on_message(error); });
  }

  void on_message(error_code error) {
    if (error) return;
    const auto bytes = received_.cdata();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    if (!socket_.got_text() || text != "ready") {
      state_.refuse(PeerRefusal::bad_request, count_.address());
      socket_.async_close({websocket::close_code::policy_error, "expected the text \"ready\""},
                          [self = this->shared_from_this()](error_code) {});
      return;
    }
    received_.clear();
    ++messages_;
    if (++said_ready_ > most_ready) return flooded();
    ready_ = std::min(ready_ + 1, most_ahead * static_cast<int>(feeds_.size()));
    offer();
    read();
  }

  bool ping_allowed() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - pinged_).count();
    pings_ = std::min(most_pings, pings_ + pings_per_second * seconds) - 1.0;
    pinged_ = now;
    return pings_ >= 0.0;
  }

  void flooded() {
    if (std::exchange(cut_off_, true)) return;
    state_.refuse(PeerRefusal::flooding, count_.address());
    beast::get_lowest_layer(socket_).close();  // a client that floods the server does not read a reason
  }

  WebState& state_;
  std::vector<std::string> names_;
  bool together_;
  ConnectionCount count_;
  websocket::stream<Stream> socket_;
  HttpRequest request_;
  std::vector<Feed> feeds_;
  std::size_t turn_ = 0;  // index of the feed that is served first
  beast::flat_buffer received_;
  ImageBoard::Lease lease_;                // held while its image is being sent
  std::vector<ImageBoard::Newest> frame_;  // images that follow it, the last one first
  bool first_ = true;                      // no frame has been sent yet
  bool open_ = false;
  int ready_ = 1;  // images that the client has requested: initially one of each stream
  bool cut_off_ = false;
  int said_ready_ = 0;                           // "ready" messages since the last image
  std::uint64_t messages_ = 0;                   // messages in this second
  std::optional<std::uint64_t> received_bytes_;  // bytes received before this second
  asio::steady_timer second_;
  double pings_ = most_pings;
  std::chrono::steady_clock::time_point pinged_ = std::chrono::steady_clock::now();
};

template <class Stream>
void serve(WebState& state, Stream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams) {
  std::make_shared<ViewerSession<Stream>>(state, std::move(stream), std::move(count), std::move(request), std::move(streams))
      ->start();
}

}  // namespace

void serve_viewer(WebState& state, PlainStream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams) {
  serve(state, std::move(stream), std::move(count), std::move(request), std::move(streams));
}

void serve_viewer(WebState& state, TlsStream stream, ConnectionCount count, HttpRequest request, WatchedStreams streams) {
  serve(state, std::move(stream), std::move(count), std::move(request), std::move(streams));
}

void offer_news(WebState& state) {
  for (Viewer* viewer : state.viewers) viewer->offer();
}

}  // namespace echoform
