#include <fmt/format.h>

#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <optional>

#include "transport/web/request_rules.hpp"
#include "transport/web/web_server.hpp"

namespace echoform {

extern const std::string_view viewer_page;  // viewer/index.html, embedded at build time

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

namespace {

std::string list_streams(WebState& state) {
  std::string list;
  for (const auto& stream : state.board.streams()) {
    list += fmt::format("{}{{\"name\":{},\"view\":{},\"encoding\":\"{}\"}}", list.empty() ? "" : ",", json_string(stream.name),
                        json_string(stream.view_name), stream.display ? "display_uint8" : "envelope_float32");
  }
  return fmt::format("{{\"name\":{},{}\"streams\":[{}]}}\n", json_string(state.options.name),
                     state.control_now() ? "\"control\":true," : "", list);
}

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(WebState& state, asio::ip::tcp::socket socket) : state_(state), count_(state), stream_(std::move(socket)) {}

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_.options.header_bytes));
    parser_->body_limit(state_.options.control_bytes);
    stream_.expires_after(state_.options.request_timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) { self->on_header(error); });
  }

 private:
  void on_header(error_code error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return answer(http::status::request_header_fields_too_large,
                    fmt::format("the header is longer than {} bytes\n", state_.options.header_bytes), true);
    }
    if (error == http::error::body_limit) return refuse_body();
    if (error && error.category() == make_error_code(http::error::bad_method).category()) {
      if (error == http::error::end_of_stream || error == http::error::partial_message) return close();
      return answer(http::status::bad_request, fmt::format("not an HTTP request: {}\n", error.message()), true);
    }
    if (error) return;  // gone, or silent for too long
    handle(parser_->get());
  }

  void handle(const HttpRequest& request) {
    keep_alive_ = request.keep_alive();
    version_ = request.version();
    head_ = request.method() == http::verb::head;
    const auto target = parse_target(request.target());
    const bool control = target && target->path == "/control";
    const auto length = parser_->content_length();
    if (!control && ((length && *length > 0) || parser_->chunked())) return refuse_body();
    if (control ? request.method() != http::verb::post : !head_ && request.method() != http::verb::get) {
      allowed_ = control ? "POST" : "GET, HEAD";
      return answer(http::status::method_not_allowed, control ? "only POST\n" : "only GET and HEAD\n", true);
    }
    const std::string_view host = request[http::field::host];
    if (!host_allowed(host, state_.options.host_names)) {
      return answer(http::status::misdirected_request,
                    fmt::format("host {} is not served here; use the address, or add the name to the server's host names\n",
                                json_string(host)),
                    true);
    }
    if (!target) return answer(http::status::bad_request, "bad target\n", true);

    if (target->path == "/healthz") return answer(http::status::ok, "ok\n");
    if (!token_allowed(state_.options.token, target->token, request[http::field::authorization])) {
      return answer(http::status::unauthorized,
                    "a token is asked for: open the address that the server printed, ending in ?token=...\n", true);
    }
    if (control) return receive_control(request, host);
    if (target->path == "/images") return upgrade(request, host, target->stream);
    if (target->path == "/" || target->path == "/index.html")
      return answer(http::status::ok, std::string(viewer_page), false, "text/html; charset=utf-8");
    if (target->path == "/streams.json") return answer(http::status::ok, list_streams(state_), false, "application/json");
    if (target->path == "/metrics") return metrics();
    answer(http::status::not_found, "no such page; see /\n");
  }

  void refuse_body() { answer(http::status::payload_too_large, "requests have no body here, or a shorter one\n", true); }

  /// What changes something takes no browser that comes from elsewhere: forms of other pages cannot send JSON.
  void receive_control(const HttpRequest& request, std::string_view host) {
    if (!state_.control_now()) return answer(http::status::not_found, "no live control here\n", true);
    if (!origin_allowed(request[http::field::origin], host))
      return answer(http::status::forbidden, "only this server's own pages may change settings\n", true);
    if (!is_json(request[http::field::content_type]))
      return answer(http::status::unsupported_media_type, "Content-Type: application/json, please\n", true);
    body_.emplace(std::move(*parser_));
    body_->body_limit(state_.options.control_bytes);
    stream_.expires_after(state_.options.request_timeout);
    http::async_read(stream_, buffer_, *body_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error == http::error::body_limit) return self->refuse_body();
      if (error) return;  // gone, silent for too long, or no HTTP any more
      self->ask_control();
    });
  }

  void ask_control() {
    const auto control = state_.control_now();
    if (!control) return answer(http::status::not_found, "no live control here\n", true);
    control(std::move(body_->get().body()),
            state_.replies->expect([self = shared_from_this()](unsigned status, std::string json) {
              self->answer(static_cast<http::status>(status), std::move(json), false, "application/json");
            }));
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

  void upgrade(const HttpRequest& request, std::string_view host, const std::string& stream_name) {
    if (!beast::websocket::is_upgrade(request)) return answer(http::status::upgrade_required, "a WebSocket, please\n");
    if (!origin_allowed(request[http::field::origin], host)) {
      return answer(http::status::forbidden, "only this server's own pages may open a WebSocket\n", true);
    }
    if (state_.viewers.size() >= state_.options.viewers) {
      return answer(http::status::service_unavailable, fmt::format("{} viewers are connected already\n", state_.options.viewers),
                    true);
    }
    serve_viewer(state_, std::move(stream_), std::move(count_), parser_->release(), stream_name);
  }

  void answer(http::status status, std::string body, bool close_after = false,
              std::string_view type = "text/plain; charset=utf-8") {
    response_.emplace(status, version_);
    response_->set(http::field::server, "Echoform");
    response_->set(http::field::content_type, type);
    response_->set(http::field::cache_control, "no-store");
    response_->set("X-Content-Type-Options", "nosniff");
    response_->set("X-Frame-Options", "DENY");
    response_->set("Referrer-Policy", "no-referrer");
    response_->set("Content-Security-Policy",
                   "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src "
                   "'self' data: blob:");
    if (status == http::status::method_not_allowed) response_->set(http::field::allow, allowed_);
    if (status == http::status::upgrade_required) response_->set(http::field::upgrade, "websocket");
    response_->keep_alive(keep_alive_ && !close_after);
    response_->content_length(body.size());
    if (!head_) response_->body() = std::move(body);
    stream_.expires_after(state_.options.request_timeout);
    http::async_write(stream_, *response_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return;
      if (!self->response_->keep_alive()) return self->close();
      self->read();
    });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  WebState& state_;
  ConnectionCount count_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{state_.options.header_bytes + 1024};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::request_parser<http::string_body>> body_;
  std::optional<http::response<http::string_body>> response_;
  std::string_view allowed_ = "GET, HEAD";
  bool keep_alive_ = false;
  bool head_ = false;
  unsigned version_ = 11;
};

}  // namespace

void serve_http(WebState& state, asio::ip::tcp::socket socket) {
  std::make_shared<HttpSession>(state, std::move(socket))->read();
}

}  // namespace echoform
