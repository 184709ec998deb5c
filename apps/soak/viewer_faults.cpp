// Faults of browsers, scanners and subscribers at the endpoints for images, in addition to the viewers that watch all the time.
#include <fmt/format.h>

#include "apps/soak/fault_kinds.hpp"
#include "apps/soak/web_feed.hpp"
#include "base/errors.hpp"
#include "transport/publish/subscriber.hpp"

namespace echoform::soak {
namespace {

void require_status(const FaultContext& context, std::string_view request, int expected) {
  const int found = ask_http(context.places.web, request, patience).status;
  if (found != expected) throw RuntimeFault(fmt::format("the web server answered {}; expected {}", found, expected));
}

}  // namespace

void half_open_http(const FaultContext& context) {
  RawConnection connection(context.places.web);
  connection.send("GET /metrics HTTP/1.1\r\nHost: 127.0");
  context.lingering.add(context.name, std::move(connection), {});
}

void garbage_http(const FaultContext& context) {
  require_status(context, "\x16\x03\x01 no request \xff\xfe\r\n\r\n", 400);
}

void oversized_http_header(const FaultContext& context) {
  // If the server closes with some of the request unread, it may reset the connection before the answer is read. So a missing
  // answer is accepted.
  const std::string header = fmt::format("X-Long: {}\r\nConnection: close\r\n", std::string(65536, 'x'));
  const int found = ask_http(context.places.web, http_request(context.places.web, "/", "", header), patience).status;
  if (found != 431 && found != 0) throw RuntimeFault(fmt::format("the web server answered {}; expected 431", found));
}

void wrong_origin(const FaultContext& context) {
  require_status(context, web_socket_request(context.places, "http://elsewhere.example"), 403);
}

void http_storm(const FaultContext& context) {
  for (std::uint64_t n = context.pick(5, 25); n > 0; --n) {
    RawConnection connection(context.places.web);
    switch (context.pick(0, 3)) {
      case 0:
        connection.send(http_request(context.places.web, "/", context.places.web_token));
        break;
      case 1:
        connection.send("GET /");
        connection.reset();
        break;
      case 2:
        connection.end_sending();
        break;
      default:
        break;
    }
  }
}

void web_viewer_breaks_protocol(const FaultContext& context) {
  WebFeed feed(context.places);
  feed.say("steady");  // "ready" is the only word allowed
  std::string message;
  auto outcome = WebFeed::Outcome::image;
  while (outcome == WebFeed::Outcome::image) outcome = feed.next(message, patience);
  if (outcome != WebFeed::Outcome::closed) throw RuntimeFault("the web server keeps a viewer that says what it must not");
}

void subscriber_storm(const FaultContext& context) {
  for (std::uint64_t n = context.pick(3, 10); n > 0; --n) {
    const ImageSubscriber subscriber({.endpoint = context.places.images, .stream = "", .latest_only = false});
  }
}

void zeromq_garbage(const FaultContext& context) {
  for (const std::string& endpoint : {context.places.images, context.places.telemetry, context.places.control}) {
    if (endpoint.empty()) continue;
    std::string garbage(static_cast<std::size_t>(context.pick(1, 512)), '\0');
    for (char& byte : garbage) byte = static_cast<char>(context.random());
    RawConnection connection(place_of(endpoint));
    static_cast<void>(connection.send(garbage));
    connection.end_sending();
  }
}

}  // namespace echoform::soak
