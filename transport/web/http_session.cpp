#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "transport/web/request_framing.hpp"
#include "transport/web/request_rules.hpp"
#include "transport/web/web_server.hpp"

namespace echoform {

extern const std::string_view viewer_page;    // viewer/index.html, embedded at build time
extern const std::string_view three_library;  // three.js with its OrbitControls; empty where the build had none

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

namespace {

std::string list_streams(WebState& state) {
  std::string list;
  for (const auto& stream : state.board.streams()) {
    const Grid& grid = stream.grid;
    const std::string across = grid.y.count > 1 ? fmt::format("{},", grid.y.count) : "";
    const std::string axes = stream.x == Meaning{"x", "m"} && stream.z == Meaning{"z", "m"}
                                 ? ""
                                 : fmt::format(",\"axes\":[{},{}]", json_string(stream.x.name), json_string(stream.z.name));
    const std::string quantity =
        stream.display || stream.pixels == OutputDescription{}.pixels
            ? ""
            : fmt::format(",\"quantity\":[{},{}]", json_string(stream.pixels.name), json_string(stream.pixels.unit));
    list +=
        fmt::format("{}{{\"name\":{},\"view\":{},\"encoding\":\"{}\",\"pixels\":[{},{}{}]{}{}}}", list.empty() ? "" : ",",
                    json_string(stream.name), json_string(stream.view_name),
                    stream.display ? "display_uint8" : "envelope_float32", grid.x.count, across, grid.z.count, axes, quantity);
  }
  return fmt::format("{{\"name\":{},{}\"streams\":[{}]}}\n", json_string(state.options.name),
                     state.control_now() ? "\"control\":true," : "", list);
}

template <class Stream>
class HttpSession final : public WaitingConnection, public std::enable_shared_from_this<HttpSession<Stream>> {
  static constexpr std::size_t read_at_once = 65536;
  static constexpr bool encrypted = std::is_same_v<Stream, TlsStream>;

 public:
  HttpSession(WebState& state, Stream stream, ConnectionCount count)
      : WaitingConnection(state), state_(state), count_(std::move(count)), stream_(std::move(stream)) {}

  void start() {
    if constexpr (encrypted) {
      wait();
      expire();
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](error_code error) {
        if (!error) return self->read();
        if (!self->gave_way_) {
          self->refused(error == beast::error::timeout ? PeerRefusal::silent : PeerRefusal::bad_handshake);
        }
      });
    } else {
      read();
    }
  }

  void give_way() override {
    gave_way_ = true;
    refused(PeerRefusal::silent);
    beast::get_lowest_layer(stream_).close();
  }

 private:
  void expire() { beast::get_lowest_layer(stream_).expires_after(state_.options.request_timeout); }

  void read() {
    head_ = keep_alive_ = false;  // left from the request before
    version_ = 11;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_.options.header_bytes));
    parser_->body_limit(state_.options.control_bytes);
    folding_ = {};
    looked_at_ = 0;
    expire();
    wait();
    take_header();
  }

  /// Works like http::async_read_header(), which does not give access to the lines as they were received.
  void take_header() {
    const auto bytes = buffer_.data();
    const std::string_view all(static_cast<const char*>(bytes.data()), bytes.size());
    folded_ = folding_.find(all.substr(looked_at_));
    if (!all.empty()) {
      error_code error;
      buffer_.consume(parser_->put(bytes, error));
      looked_at_ = buffer_.size();
      if (parser_->is_header_done() || (error && error != http::error::need_more)) return on_header(error);
    }
    const std::size_t space = std::min(buffer_.max_size() - buffer_.size(), read_at_once);
    if (space == 0) return on_header(http::error::buffer_overflow);
    stream_.async_read_some(buffer_.prepare(space), [self = this->shared_from_this()](error_code error, std::size_t count) {
      self->buffer_.commit(count);
      if (!error) return self->take_header();
      if (error == asio::error::eof)
        error = self->parser_->got_some() ? http::error::partial_message : http::error::end_of_stream;
      self->on_header(error);
    });
  }

  void on_header(error_code error) {
    stop_waiting();
    if (gave_way_) return;
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return answer(http::status::request_header_fields_too_large,
                    fmt::format("the header is longer than {} bytes\n", state_.options.header_bytes), true);
    }
    if (error == http::error::body_limit) return refuse_body();
    if (is_no_http(error)) {
      if (error == http::error::end_of_stream || error == http::error::partial_message) return close();
      return refuse_request(fmt::format("not an HTTP request: {}\n", error.message()));
    }
    if (error) {  // the client has gone, or was silent for too long
      // Browsers open more connections than they use. A connection on which nothing was ever received requested nothing: it ends
      // like an idle one.
      if (error == beast::error::timeout && !served_ && parser_->got_some()) refused(PeerRefusal::silent);
      return;
    }
    served_ = true;
    if (folded_) return refuse_request("a field goes on in the next line, which is obsolete\n");
    handle(parser_->get());
  }

  void handle(const HttpRequest& request) {
    keep_alive_ = request.keep_alive();
    version_ = request.version();
    head_ = request.method() == http::verb::head;
    if (const auto ambiguity = find_ambiguity(request, version_)) return refuse_request(*ambiguity + "\n");
    const auto target = parse_target(text_of(request.target()));
    const bool control = target && target->path == "/control";
    const auto length = parser_->content_length();
    if (!control && ((length && *length > 0) || parser_->chunked())) return refuse_body();
    if (control ? request.method() != http::verb::post : !head_ && request.method() != http::verb::get) {
      allowed_ = control ? "POST" : "GET, HEAD";
      return answer(http::status::method_not_allowed, control ? "only POST\n" : "only GET and HEAD\n", true);
    }
    if (!target) return answer(http::status::bad_request, "bad target\n", true);
    const RequestOrigin from{.host = text_of(request[http::field::host]),
                             .origin = text_of(request[http::field::origin]),
                             .authorization = text_of(request[http::field::authorization]),
                             .fetch_site = text_of(request["Sec-Fetch-Site"]),
                             .fetch_mode = text_of(request["Sec-Fetch-Mode"]),
                             .content_type = text_of(request[http::field::content_type]),
                             .token = target->token};
    const bool open = target->path == "/healthz";  // for supervisors; it reveals nothing else
    const RequestTrust trust{open ? std::string_view() : state_.options.token, state_.options.host_names, encrypted};
    if (const auto refusal = control ? refuse_to_change(from, trust) : refuse_to_read(from, trust))
      return refuse(*refusal, from.host);

    if (open) return answer(http::status::ok, "ok\n");
    if (control) return receive_control();
    if (target->path == "/images") return upgrade(request, {target->streams, target->together});
    if (target->path == "/" || target->path == "/index.html")
      return answer(http::status::ok, std::string(viewer_page), false, "text/html; charset=utf-8");
    if (target->path == "/three.js") return library();
    if (target->path == "/streams.json") return answer(http::status::ok, list_streams(state_), false, "application/json");
    if (target->path == "/metrics") return metrics();
    answer(http::status::not_found, "no such page; see /\n");
  }

  static bool is_no_http(error_code error) {
    return error && error.category() == make_error_code(http::error::bad_method).category();
  }

  /// Refuses a malformed request. Nothing that follows it on this connection is read, because its beginning is unknown.
  void refuse_request(std::string why) {
    refused(PeerRefusal::bad_request);
    answer(http::status::bad_request, std::move(why), true);
  }

  void refused(PeerRefusal reason) { state_.refuse(reason, count_.address()); }

  void refuse_body() { answer(http::status::payload_too_large, "requests have no body here, or a shorter one\n", true); }

  void receive_control() {
    if (!state_.control_now()) return answer(http::status::not_found, "no live control here\n", true);
    body_.emplace(std::move(*parser_));
    body_->body_limit(state_.options.control_bytes);
    expire();
    wait();
    http::async_read(stream_, buffer_, *body_, [self = this->shared_from_this()](error_code error, std::size_t) {
      self->stop_waiting();
      if (self->gave_way_) return;
      if (error == http::error::body_limit) return self->refuse_body();
      if (is_no_http(error) && error != http::error::partial_message) {
        return self->refuse_request(fmt::format("not the body of a request: {}\n", error.message()));
      }
      if (error) return;  // the client has gone, or was silent for too long
      self->ask_control();
    });
  }

  void ask_control() {
    const auto control = state_.control_now();
    if (!control) return answer(http::status::not_found, "no live control here\n", true);
    // The answer may take its time; until it comes, no operation is under way on the connection.
    control(std::move(body_->get().body()),
            state_.replies->expect([self = this->shared_from_this()](unsigned status, std::string json) {
              self->answer(static_cast<http::status>(status), std::move(json), false, "application/json");
            }));
  }

  void library() {
    if (three_library.empty()) {
      return answer(http::status::not_found, "This program was built without three.js (the package libjs-three).\n");
    }
    answer(http::status::ok, std::string(three_library), false, "text/javascript; charset=utf-8");
  }

  void metrics() {
    std::function<std::string()> text;
    {
      const std::lock_guard lock(state_.metrics_mutex);
      text = state_.metrics;
    }
    if (!text) return answer(http::status::service_unavailable, "no metrics yet\n");
    try {
      answer(http::status::ok, text(), false, "text/plain; version=0.0.4; charset=utf-8");
    } catch (const std::exception& error) {
      answer(http::status::internal_server_error, fmt::format("{}\n", error.what()));
    }
  }

  void refuse(PeerRefusal reason, std::string_view host) {
    refused(reason);
    if (reason == PeerRefusal::wrong_host) {
      return answer(http::status::misdirected_request,
                    fmt::format("host {} is not served here; use the address, or add the name to the server's host names\n",
                                json_string(host)),
                    true);
    }
    if (reason == PeerRefusal::bad_request) {
      return answer(http::status::unsupported_media_type, "Content-Type: application/json, please\n", true);
    }
    if (reason == PeerRefusal::wrong_origin) {
      return answer(http::status::forbidden, "only this server's own pages may ask for this\n", true);
    }
    answer(http::status::unauthorized,
           "a token is asked for, the one in the server's configuration: open the address with ?token=... at its end\n", true);
  }

  void upgrade(const HttpRequest& request, WatchedStreams streams) {
    if (!beast::websocket::is_upgrade(request)) return answer(http::status::upgrade_required, "a WebSocket, please\n");
    if (state_.viewers.size() >= state_.options.viewers) {
      refused(PeerRefusal::too_many);
      return answer(http::status::service_unavailable, fmt::format("{} viewers are connected already\n", state_.options.viewers),
                    true);
    }
    serve_viewer(state_, std::move(stream_), std::move(count_), parser_->release(), std::move(streams));
  }

  void answer(http::status status, std::string body, bool close_after = false,
              std::string_view type = "text/plain; charset=utf-8") {
    response_.emplace(status, version_);
    response_->set(http::field::server, "Echoform");
    response_->set(http::field::content_type, beast_text(type));
    response_->set(http::field::cache_control, "no-store");
    response_->set("X-Content-Type-Options", "nosniff");
    response_->set("X-Frame-Options", "DENY");
    response_->set("Referrer-Policy", "no-referrer");
    response_->set("Content-Security-Policy",
                   "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src "
                   "'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response_->set("Cross-Origin-Resource-Policy", "same-origin");
    if (status == http::status::method_not_allowed) response_->set(http::field::allow, beast_text(allowed_));
    if (status == http::status::upgrade_required) response_->set(http::field::upgrade, "websocket");
    response_->keep_alive(keep_alive_ && !close_after);
    response_->content_length(body.size());
    if (!head_) response_->body() = std::move(body);
    expire();
    // The client must take the answer in time: one that does not read counts as silent, like one that sends no request.
    wait();
    http::async_write(stream_, *response_, [self = this->shared_from_this()](error_code error, std::size_t) {
      self->stop_waiting();
      if (error || self->gave_way_) return;
      if (!self->response_->keep_alive()) return self->close();
      self->read();
    });
  }

  void close() {
    if constexpr (encrypted) {
      expire();
      wait();
      stream_.async_shutdown([self = this->shared_from_this()](error_code) {});
    } else {
      error_code ignored;
      stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }
  }

  WebState& state_;
  ConnectionCount count_;
  Stream stream_;
  beast::flat_buffer buffer_{state_.options.header_bytes + 1024};
  FoldingFinder folding_;
  std::size_t looked_at_ = 0;  // bytes of the buffer that have been examined
  bool folded_ = false;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::request_parser<http::string_body>> body_;
  std::optional<http::response<http::string_body>> response_;
  std::string_view allowed_ = "GET, HEAD";
  bool keep_alive_ = false;
  bool head_ = false;
  bool served_ = false;  // a whole request has been served
  bool gave_way_ = false;
  unsigned version_ = 11;
};

}  // namespace

void WaitingConnection::wait() {
  stop_waiting();
  place_ = waiting_in_.waiting.insert(waiting_in_.waiting.end(), this);
  waiting_ = true;
}

void WaitingConnection::stop_waiting() {
  if (std::exchange(waiting_, false)) waiting_in_.waiting.erase(place_);
}

void serve_http(WebState& state, asio::ip::tcp::socket socket, ConnectionCount count) {
  if (state.tls) {
    std::make_shared<HttpSession<TlsStream>>(state, TlsStream(PlainStream(std::move(socket)), *state.tls), std::move(count))
        ->start();
  } else {
    std::make_shared<HttpSession<PlainStream>>(state, PlainStream(std::move(socket)), std::move(count))->start();
  }
}

}  // namespace echoform
