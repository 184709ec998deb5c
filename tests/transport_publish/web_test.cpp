#include "transport/web/web_sink.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <optional>
#include <set>

#include "base/errors.hpp"
#include "proto/image.pb.h"
#include "tests/support/eventually.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "tests/transport_publish/thread_allocations.hpp"
#include "transport/web/request_rules.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Connection {
 public:
  explicit Connection(const WebSink& sink) : socket_(context_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), sink.port()});
  }
  void send(std::string_view text) { asio::write(socket_, asio::buffer(text)); }
  // All that comes until the server closes.
  std::string rest() {
    std::string text;
    boost::system::error_code error;
    asio::read(socket_, asio::dynamic_buffer(text), error);
    return text;
  }
  http::response<http::string_body> response(bool head = false) {
    http::response_parser<http::string_body> parser;
    parser.skip(head);
    http::read(socket_, buffer_, parser);
    return parser.release();
  }

 private:
  asio::io_context context_;
  tcp::socket socket_;
  beast::flat_buffer buffer_;
};

http::response<http::string_body> get(const WebSink& sink, std::string_view target,
                                      std::string_view headers = "Host: localhost\r\n") {
  Connection connection(sink);
  connection.send(fmt::format("GET {} HTTP/1.1\r\n{}\r\n", target, headers));
  return connection.response();
}

// A viewer that speaks the page's protocol.
class Viewer {
 public:
  explicit Viewer(const WebSink& sink, std::string target = "/images", std::string origin = "") : socket_(context_) {
    beast::get_lowest_layer(socket_).connect({asio::ip::make_address("127.0.0.1"), sink.port()});
    if (!origin.empty()) {
      socket_.set_option(websocket::stream_base::decorator(
          [origin](websocket::request_type& request) { request.set(http::field::origin, origin); }));
    }
    socket_.read_message_max(64 << 20);
    socket_.handshake(response_, fmt::format("127.0.0.1:{}", sink.port()), target);
  }
  wire::Image read() {
    beast::flat_buffer buffer;
    socket_.read(buffer);
    wire::Image image;
    EXPECT_TRUE(socket_.got_binary());
    EXPECT_TRUE(image.ParseFromArray(buffer.data().data(), static_cast<int>(buffer.size())));
    return image;
  }
  boost::system::error_code read_error() {
    beast::flat_buffer buffer;
    boost::system::error_code error;
    socket_.read(buffer, error);
    return error;
  }
  void say(std::string_view text) { socket_.write(asio::buffer(text)); }
  void ping(boost::system::error_code& error) { socket_.ping({}, error); }
  void pong(boost::system::error_code& error) { socket_.pong({}, error); }
  // Bytes of the WebSocket protocol as they are.
  void raw(std::string_view bytes, boost::system::error_code& error) {
    asio::write(socket_.next_layer(), asio::buffer(bytes), error);
  }
  auto close_reason() { return socket_.reason(); }

 private:
  asio::io_context context_;
  websocket::stream<tcp::socket> socket_;
  websocket::response_type response_;
};

// Why a WebSocket was refused.
http::status refusal(const WebSink& sink, std::string_view target, std::string_view headers) {
  return get(sink, target,
             fmt::format("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
                         "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{}",
                         headers))
      .result();
}

TEST(WebPages, AreServed) {
  const auto sink = make_web_sink({.port = 0});
  const auto page = get(*sink, "/");
  EXPECT_EQ(page.result(), http::status::ok);
  EXPECT_THAT(page.body(), HasSubstr("<title>Echoform</title>"));
  EXPECT_EQ(page[http::field::content_type], "text/html; charset=utf-8");
  EXPECT_THAT(std::string(page["Content-Security-Policy"]), HasSubstr("default-src 'none'"));
  EXPECT_EQ(get(*sink, "/healthz").body(), "ok\n");
  EXPECT_EQ(get(*sink, "/metrics").result(), http::status::service_unavailable);
  sink->set_metrics([] { return std::string("echoform_up 1\n"); });
  EXPECT_EQ(get(*sink, "/metrics").body(), "echoform_up 1\n");
  EXPECT_EQ(get(*sink, "/streams.json").body(), "{\"name\":\"echoform\",\"streams\":[]}\n");
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  EXPECT_EQ(get(*sink, "/streams.json").body(),
            "{\"name\":\"echoform\",\"streams\":["
            "{\"name\":\"echoform\",\"view\":\"LL\",\"encoding\":\"envelope_float32\",\"pixels\":[41,31]},"
            "{\"name\":\"echoform.display\",\"view\":\"LL\",\"encoding\":\"display_uint8\",\"pixels\":[41,31]}]}\n");
  synthetic::Shape volume;
  volume.grid.y = {Metres(-0.010), Metres(0.010), 21};
  sink->setup_changed(synthetic::Stream(volume).setup());
  EXPECT_THAT(get(*sink, "/streams.json").body(), HasSubstr("\"pixels\":[41,21,31]"));
  auto polar = std::make_shared<ImagingSetup>(*stream.setup());
  polar->recipe.outputs.front().description.x = {"range", "m"};
  polar->recipe.outputs.front().description.z = {"angle", "rad"};
  sink->setup_changed(polar);
  EXPECT_THAT(get(*sink, "/streams.json").body(),
              HasSubstr("\"encoding\":\"envelope_float32\",\"pixels\":[41,31],\"axes\":[\"range\",\"angle\"]},"));
  EXPECT_THAT(get(*sink, "/streams.json").body(), HasSubstr("\"display_uint8\",\"pixels\":[41,31]}]}"));
  polar->recipe.outputs.front().description.pixels = {"velocity", "m/s"};
  sink->setup_changed(polar);
  EXPECT_THAT(get(*sink, "/streams.json").body(),
              HasSubstr("\"axes\":[\"range\",\"angle\"],\"quantity\":[\"velocity\",\"m/s\"]},"));
}

TEST(WebPages, HaveWhatDrawsVolumesOrSayThatItIsMissing) {
  const auto sink = make_web_sink({.port = 0});
  const auto library = get(*sink, "/three.js");
  if (library.result() == http::status::ok) {
    EXPECT_THAT(std::string(library[http::field::content_type]), StartsWith("text/javascript"));
    EXPECT_THAT(library.body(), HasSubstr("OrbitControls"));
  } else {
    EXPECT_EQ(library.result(), http::status::not_found);
    EXPECT_THAT(library.body(), HasSubstr("libjs-three"));
  }
}

TEST(WebPages, UseNothingFromElsewhere) {
  const auto sink = make_web_sink({.port = 0});
  const std::string page = get(*sink, "/").body();
  for (const char* outside : {"src=\"http", "href=\"http", "url(http", "@import", "//cdn"}) {
    EXPECT_THAT(page, ::testing::Not(HasSubstr(outside)));
  }
}

TEST(WebPages, OneConnectionTakesManyRequestsAndHeadHasNoBody) {
  const auto sink = make_web_sink({.port = 0});
  Connection connection(*sink);
  connection.send("HEAD / HTTP/1.1\r\nHost: [::1]:1\r\n\r\n");
  const auto head = connection.response(true);
  EXPECT_EQ(head.result(), http::status::ok);
  EXPECT_TRUE(head.body().empty());
  EXPECT_GT(std::stoul(std::string(head[http::field::content_length])), 1000u);
  connection.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(connection.response().body(), "ok\n");
}

TEST(WebBadRequests, AreAnsweredAndLeaveTheServerWell) {
  const auto sink = make_web_sink({.port = 0});
  EXPECT_EQ(get(*sink, "/nothing").result(), http::status::not_found);
  EXPECT_EQ(get(*sink, "/../../etc/passwd").result(), http::status::not_found);
  EXPECT_EQ(get(*sink, "nothing").result(), http::status::bad_request);
  EXPECT_EQ(get(*sink, "/images?stream=%4").result(), http::status::bad_request);
  EXPECT_EQ(get(*sink, "/images?stream=" + std::string(300, 'a')).result(), http::status::bad_request);
  EXPECT_EQ(get(*sink, "/images").result(), http::status::upgrade_required);
  EXPECT_EQ(get(*sink, "/", "Host: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n").result(),
            http::status::request_header_fields_too_large);
  EXPECT_EQ(get(*sink, "/" + std::string(20'000, 'x')).result(), http::status::request_header_fields_too_large);
  EXPECT_EQ(get(*sink, "/", "Host: evil.example\r\n").result(), http::status::misdirected_request);
  EXPECT_EQ(get(*sink, "/", "").result(), http::status::misdirected_request);

  const auto raw = [&](std::string_view text) {
    Connection connection(*sink);
    connection.send(text);
    return connection.rest();
  };
  const std::string refused = raw("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(refused, HasSubstr("Allow: GET, HEAD"));
  EXPECT_THAT(raw("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(raw("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(raw("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(raw("\x16\x03\x01\x02 this is not HTTP\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(raw("GET / HTTP/9.9\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(get(*sink, "/healthz").body(), "ok\n");
}

TEST(WebBadRequests, AHalfRequestIsNotWaitedForLong) {
  const auto sink = make_web_sink({.port = 0, .request_timeout = 50ms});
  Connection slow(*sink);
  slow.send("GET / HTTP/1.1\r\nHo");
  EXPECT_EQ(slow.rest(), "");  // closed; were it not, this would wait for ever
}

TEST(WebLimits, ConnectionsBeyondTheLimitAreTurnedAway) {
  const auto sink = make_web_sink({.port = 0, .connections = 2});
  std::optional<Viewer> first(*sink), second(*sink);
  EXPECT_THAT(Connection(*sink).rest(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::too_many), 1u);
  first.reset();
  for (int i = 0; i < 1000; ++i) {  // the server learns of the close in its own time
    Connection third(*sink);
    third.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    if (third.rest().ends_with("ok\n")) return;
  }
  FAIL() << "the place was not given back";
}

TEST(WebLimits, ClientsThatSayNothingKeepNobodyOut) {
  const auto sink = make_web_sink({.port = 0, .connections = 4});
  Viewer viewer(*sink);
  std::vector<std::unique_ptr<Connection>> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(std::make_unique<Connection>(*sink));
    if (i % 2 == 0) silent.back()->send("GET / HTTP/1.1\r\nHo");
    EXPECT_EQ(get(*sink, "/healthz").body(), "ok\n");
  }
  EXPECT_LE(sink->peers().open, 5u);
  EXPECT_GE(sink->peers().refused_for(PeerRefusal::silent), 10u);
  EXPECT_EQ(silent.front()->rest(), "") << "closed without an answer";
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  sink->publish(stream.frame(1));
  EXPECT_EQ(viewer.read().sequence(), 1u) << "whoever is served keeps its place";
}

TEST(WebLimits, ViewersBeyondTheLimitAreTurnedAway) {
  const auto sink = make_web_sink({.port = 0, .viewers = 1});
  Viewer viewer(*sink);
  EXPECT_EQ(sink->viewers(), 1u);
  EXPECT_EQ(refusal(*sink, "/images", "Host: localhost\r\n"), http::status::service_unavailable);
}

TEST(WebTrust, WebSocketsAreForTheServersOwnPages) {
  const auto sink = make_web_sink({.port = 0});
  const std::string host = fmt::format("127.0.0.1:{}", sink->port());
  EXPECT_EQ(refusal(*sink, "/images", "Host: " + host + "\r\nOrigin: http://evil.example\r\n"), http::status::forbidden);
  EXPECT_EQ(refusal(*sink, "/images", "Host: " + host + "\r\nOrigin: null\r\n"), http::status::forbidden);
  EXPECT_EQ(refusal(*sink, "/images", "Host: evil.example\r\nOrigin: http://evil.example\r\n"),
            http::status::misdirected_request);
  EXPECT_NO_THROW(Viewer(*sink, "/images", "http://" + host));
}

// Every path, as a browser asks for it: header fields beside Host, and what the server has to give away.
class WebTrustEverywhere : public ::testing::TestWithParam<const char*> {
 protected:
  WebTrustEverywhere() : sink_(make_web_sink({.port = 0, .token = "secret"})) {
    sink_->set_metrics([] { return std::string("echoform_up 1\n"); });
    sink_->setup_changed(stream_.setup());
    sink_->publish(stream_.frame(1));
  }
  [[nodiscard]] std::string here() const { return fmt::format("127.0.0.1:{}", sink_->port()); }
  // The status of an answer that gives nothing away.
  http::status ask(const std::string& query, const std::string& headers) {
    const std::string path = GetParam();
    const std::string upgrade = path == "/images" ? "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
                                                    "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                                                  : "";
    const auto answer = get(*sink_, path + query, upgrade + headers);
    EXPECT_LT(answer.body().size(), 200u);
    EXPECT_THAT(answer.body(), ::testing::Not(HasSubstr("echoform")));
    return answer.result();
  }
  [[nodiscard]] std::uint64_t refused(PeerRefusal reason) const { return sink_->peers().refused_for(reason); }
  synthetic::Stream stream_;
  std::unique_ptr<WebSink> sink_;
};

TEST_P(WebTrustEverywhere, ABrowserOfAnotherOriginGetsNothing) {
  const std::string host = "Host: " + here() + "\r\n";
  EXPECT_EQ(ask("?token=secret", host + "Origin: http://evil.example\r\n"), http::status::forbidden);
  EXPECT_EQ(ask("?token=secret", host + "Origin: null\r\n"), http::status::forbidden);
  EXPECT_EQ(ask("?token=secret", host + "Origin: http://127.0.0.1:1\r\n"), http::status::forbidden);
  EXPECT_EQ(ask("?token=secret", host + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), http::status::forbidden);
  EXPECT_EQ(refused(PeerRefusal::wrong_origin), 4u);
}

TEST_P(WebTrustEverywhere, ABrowserThatAsksForAnotherHostGetsNothing) {
  EXPECT_EQ(ask("?token=secret", "Host: evil.example\r\nOrigin: http://evil.example\r\n"), http::status::misdirected_request);
  EXPECT_EQ(ask("?token=secret", fmt::format("Host: evil.example:{}\r\n", sink_->port())), http::status::misdirected_request);
  EXPECT_EQ(ask("?token=secret", ""), http::status::misdirected_request);
  EXPECT_EQ(refused(PeerRefusal::wrong_host), 3u);
}

TEST_P(WebTrustEverywhere, ABrowserWithAWrongTokenOrNoneGetsNothing) {
  const std::string host = "Host: " + here() + "\r\nOrigin: http://" + here() + "\r\n";
  for (const char* query : {"", "?token=", "?token=secre", "?token=secret2", "?token=SECRET", "?stream=secret"}) {
    EXPECT_EQ(ask(query, host), http::status::unauthorized) << query;
  }
  EXPECT_EQ(ask("", host + "Authorization: Bearer other\r\n"), http::status::unauthorized);
  EXPECT_EQ(ask("", host + "Authorization: Basic secret\r\n"), http::status::unauthorized);
  EXPECT_EQ(ask("?token=secret", host + "Authorization: Bearer other\r\n"), http::status::unauthorized);
  EXPECT_EQ(refused(PeerRefusal::wrong_token), 9u);
}

INSTANTIATE_TEST_SUITE_P(Paths, WebTrustEverywhere,
                         ::testing::Values("/", "/index.html", "/streams.json", "/metrics", "/images", "/nothing"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name, [](char c) { return c == '/' || c == '.'; });
                           return name.empty() ? std::string("root") : name;
                         });

TEST(WebTrust, PagesMayNotBeFramedAndTellNoReferrer) {
  const auto sink = make_web_sink({.port = 0});
  const auto page = get(*sink, "/");
  EXPECT_THAT(std::string(page["Content-Security-Policy"]), HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(page["X-Frame-Options"], "DENY");
  EXPECT_EQ(page["X-Content-Type-Options"], "nosniff");
  EXPECT_EQ(page["Referrer-Policy"], "no-referrer");
  EXPECT_EQ(page["Cache-Control"], "no-store");
  EXPECT_EQ(page["Cross-Origin-Resource-Policy"], "same-origin");
}

TEST(WebTrust, ALinkFromElsewhereLeadsToThePage) {
  const auto sink = make_web_sink({.port = 0});
  EXPECT_EQ(get(*sink, "/", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n").result(),
            http::status::ok);
}

TEST(WebTrust, ATokenOpensTheDoor) {
  const auto sink = make_web_sink({.port = 0, .token = "open sesame"});
  EXPECT_THAT(sink->url(), ::testing::EndsWith("/?token=open%20sesame"));
  EXPECT_EQ(get(*sink, "/").result(), http::status::unauthorized);
  EXPECT_EQ(get(*sink, "/?token=open").result(), http::status::unauthorized);
  EXPECT_EQ(get(*sink, "/metrics").result(), http::status::unauthorized);
  EXPECT_EQ(get(*sink, "/healthz").result(), http::status::ok);
  EXPECT_EQ(get(*sink, "/?token=open%20sesame").result(), http::status::ok);
  EXPECT_EQ(get(*sink, "/streams.json", "Host: localhost\r\nAuthorization: Bearer open sesame\r\n").result(), http::status::ok);
  EXPECT_EQ(refusal(*sink, "/images", "Host: localhost\r\n"), http::status::unauthorized);
  EXPECT_NO_THROW(Viewer(*sink, "/images?token=open%20sesame"));
}

TEST(WebTrust, Rules) {
  const std::vector<std::string> names{"Scanner.local"};
  for (const char* good : {"localhost", "LOCALHOST:80", "127.0.0.1:1", "192.168.1.7", "[::1]", "[::1]:8080", "scanner.local:5"}) {
    EXPECT_TRUE(host_allowed(good, names)) << good;
  }
  for (const char* bad :
       {"", "localhost.evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1", "localhost:x", "::1:80"}) {
    EXPECT_FALSE(host_allowed(bad, names)) << bad;
  }
  EXPECT_TRUE(origin_allowed("", "localhost:1"));
  EXPECT_TRUE(origin_allowed("http://localhost:1", "localhost:1"));
  EXPECT_FALSE(origin_allowed("http://localhost:2", "localhost:1"));
  EXPECT_FALSE(origin_allowed("file://localhost:1", "localhost:1"));
  const auto target = parse_target("/images?x=1&stream=echoform%2FTT.display&token=a%26b");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/images");
  EXPECT_EQ(target->streams, std::vector<std::string>{"echoform/TT.display"});
  EXPECT_EQ(target->token, "a&b");
  EXPECT_FALSE(target->together);
  EXPECT_TRUE(parse_target("/images?stream=a&together")->together);
  EXPECT_FALSE(parse_target("/images?stream=%zz"));
  EXPECT_EQ(parse_target("/images?stream=a&stream=b&stream=a&stream=c&stream=d")->streams,
            (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_FALSE(parse_target("/images?stream=a&stream=b&stream=c&stream=d&stream=e"));
  EXPECT_EQ(json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(WebImages, OneAtATimeAndTheNewestWins) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  stream.paint_spot(Metres(0), Metres(0.02));
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink, "/images?stream=echoform");
  sink->publish(stream.frame(1));
  const wire::Image first = viewer.read();
  EXPECT_EQ(first.sequence(), 1u);
  EXPECT_EQ(first.stream(), "echoform");
  EXPECT_EQ(first.pixels().size(), 41u * 31u * 4u);
  for (std::uint64_t sequence = 2; sequence <= 51; ++sequence) sink->publish(stream.frame(sequence));
  viewer.say("ready");
  EXPECT_EQ(viewer.read().sequence(), 51u);  // nothing was sent in between
  EXPECT_EQ(sink->viewer_dropped(), 49u);
  viewer.say("ready");  // nothing new: the next is sent when it comes
  sink->publish(stream.frame(52));
  EXPECT_EQ(viewer.read().sequence(), 52u);
  EXPECT_EQ(sink->viewer_dropped(), 49u);
}

TEST(WebImages, AViewerMayAskForOneImageAhead) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink);
  viewer.say("ready");
  sink->publish(stream.frame(1));
  EXPECT_EQ(viewer.read().sequence(), 1u);
  sink->publish(stream.frame(2));
  EXPECT_EQ(viewer.read().sequence(), 2u);  // asked for ahead
  for (std::uint64_t sequence = 3; sequence <= 9; ++sequence) sink->publish(stream.frame(sequence));
  viewer.say("ready");
  EXPECT_EQ(viewer.read().sequence(), 9u);  // and nothing in between
}

TEST(WebImages, AViewerThatComesAfterTheSourceStoppedSeesTheLastImage) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  sink->publish(stream.frame(7));
  EXPECT_EQ(Viewer(*sink).read().sequence(), 7u);
  EXPECT_EQ(Viewer(*sink, "/images?stream=echoform.display").read().stream(), "echoform.display");
}

TEST(WebImages, AStreamMayBeWatchedBeforeItExists) {
  const auto sink = make_web_sink({.port = 0});
  Viewer any(*sink), named(*sink, "/images?stream=echoform%2FTT");
  synthetic::Shape shape;
  shape.views = {"LL", "TT"};
  synthetic::Stream stream(shape);
  sink->setup_changed(stream.setup());
  sink->publish(stream.frame(1));
  EXPECT_EQ(any.read().stream(), "echoform/LL");
  EXPECT_EQ(named.read().stream(), "echoform/TT");
}

TEST(WebImages, OneViewerMayWatchSeveralStreams) {
  const auto sink = make_web_sink({.port = 0, .viewers = 1});
  synthetic::Shape shape;
  shape.views = {"LL", "LT", "TT"};
  synthetic::Stream stream(shape);
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink, "/images?stream=echoform%2FLL&stream=echoform%2FTT");
  const auto pair = [&] {
    const wire::Image first = viewer.read();
    const wire::Image second = viewer.read();
    EXPECT_EQ((std::set<std::string>{first.stream(), second.stream()}), (std::set<std::string>{"echoform/LL", "echoform/TT"}));
    return std::pair{first.sequence(), second.sequence()};
  };
  // One of each without asking, one of each for two "ready".
  sink->publish(stream.frame(1));
  EXPECT_EQ(pair(), (std::pair<std::uint64_t, std::uint64_t>{1, 1}));
  for (std::uint64_t sequence = 2; sequence <= 9; ++sequence) sink->publish(stream.frame(sequence));
  viewer.say("ready");
  viewer.say("ready");
  EXPECT_EQ(pair(), (std::pair<std::uint64_t, std::uint64_t>{9, 9}));
  EXPECT_EQ(sink->viewer_dropped(), 2u * 7u);
  EXPECT_EQ(sink->viewers(), 1u);
}

TEST(WebImages, StreamsTakeTurnsWhereAViewerAsksForFewerThanThereAre) {
  const auto sink = make_web_sink({.port = 0, .viewers = 1});
  synthetic::Shape shape;
  shape.views = {"LL", "LT", "TT"};
  synthetic::Stream stream(shape);
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink, "/images?stream=echoform%2FLL&stream=echoform%2FLT&stream=echoform%2FTT");
  std::vector<std::string> order;
  const auto read = [&](std::uint64_t sequence) {
    const wire::Image image = viewer.read();
    EXPECT_EQ(image.sequence(), sequence) << image.stream();
    order.push_back(image.stream());
  };
  // One of each without asking, then one a frame, of each of which there are three.
  sink->publish(stream.frame(1));
  for (int k = 0; k < 3; ++k) read(1);
  constexpr std::uint64_t last = 13;
  for (std::uint64_t sequence = 2; sequence <= last; ++sequence) {
    sink->publish(stream.frame(sequence));
    viewer.say("ready");
    read(sequence);
  }
  for (std::size_t k = 0; k + 3 <= order.size(); ++k) {
    EXPECT_EQ((std::set<std::string>(order.begin() + static_cast<std::ptrdiff_t>(k),
                                     order.begin() + static_cast<std::ptrdiff_t>(k) + 3))
                  .size(),
              3U)
        << "from image " << k << " on a stream comes twice before another has come";
  }
  // The two of the last frame that wait are not lost.
  for (int k = 0; k < 2; ++k) {
    viewer.say("ready");
    read(last);
  }
  EXPECT_EQ(sink->viewer_dropped(), 3U * last - order.size());
}

TEST(WebImages, StreamsMayComeOfOneFrameAtATime) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Shape shape;
  shape.views = {"LL", "LT", "TT"};
  synthetic::Stream stream(shape);
  sink->setup_changed(stream.setup());
  sink->publish(stream.frame(1));
  Viewer viewer(*sink, "/images?stream=echoform%2FTT.display&stream=echoform%2FLL&stream=echoform%2FXX&together");
  const auto expect = [&](std::uint64_t sequence) {
    // In the order in which they are asked for; a stream that there is not keeps nobody waiting.
    for (const char* name : {"echoform/TT.display", "echoform/LL"}) {
      const wire::Image image = viewer.read();
      EXPECT_EQ(image.stream(), name);
      EXPECT_EQ(image.sequence(), sequence);
    }
  };
  expect(1);
  viewer.say("ready");
  for (std::uint64_t sequence = 2; sequence <= 9; ++sequence) sink->publish(stream.frame(sequence));
  viewer.say("ready");  // as many images as there are streams are wanted
  expect(9);
  viewer.say("ready");
  viewer.say("ready");
  stream.slot().envelope_wanted = false;
  sink->publish(stream.frame(10));
  stream.slot().envelope_wanted = true;
  sink->publish(stream.frame(11));
  expect(11);
  EXPECT_EQ(sink->viewer_dropped(), 2u * 7u + 1u) << "2 to 8 of both, 10 of one";
}

TEST(WebImages, ANewPlanGivesNewGeometry) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink);
  sink->publish(stream.frame(1));
  EXPECT_EQ(viewer.read().x().count(), 41u);
  synthetic::Shape larger;
  larger.grid.x.count = 300;
  synthetic::Stream second(larger);
  sink->setup_changed(second.setup());
  sink->publish(second.frame(2));
  viewer.say("ready");
  EXPECT_EQ(viewer.read().x().count(), 300u);
}

TEST(WebImages, AViewerThatNeverReadsHoldsOneBufferAndNobodyUp) {
  const auto sink = make_web_sink({.port = 0, .viewer_timeout = 10min});  // whatever 240 MB take
  synthetic::Shape shape;
  shape.grid.x.count = shape.grid.z.count = 1024;  // 4 MiB an image: more than its sockets take
  synthetic::Stream stream(shape);
  sink->setup_changed(stream.setup());
  EXPECT_EQ(sink->image_buffers(), 3u);  // one for each stream, one being written
  Viewer stuck(*sink), good(*sink);
  stuck.say("ready");
  stuck.say("ready");
  EXPECT_EQ(sink->image_buffers(), 5u);
  for (std::uint64_t sequence = 1; sequence <= 60; ++sequence) {
    sink->publish(stream.frame(sequence));
    ASSERT_EQ(good.read().sequence(), sequence);
    good.say("ready");
    ASSERT_EQ(sink->image_buffers(), 5u);
  }
}

TEST(WebImages, AViewerThatAnswersNothingIsDisconnected) {
  const auto sink = make_web_sink({.port = 0, .viewer_timeout = 100ms});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink);
  // Reads nothing, so it never answers the server's pings; the counter falls when the server gives up.
  const auto publishing_until = [&](auto condition) {
    return eventually([&] {
      if (condition()) return true;
      sink->publish(stream.frame(1));
      return false;
    });
  };
  EXPECT_TRUE(publishing_until([&] { return sink->viewers() == 0; }));
  // The viewer is no longer counted a moment before its buffer is given back.
  EXPECT_TRUE(publishing_until([&] { return sink->image_buffers() == 3u; }));
}

TEST(WebImages, OtherThanReadyIsRefused) {
  const auto sink = make_web_sink({.port = 0});
  Viewer chatty(*sink), flooding(*sink);
  chatty.say("give me more");
  EXPECT_EQ(chatty.read_error(), websocket::error::closed);
  EXPECT_EQ(chatty.close_reason().code, websocket::close_code::policy_error);
  flooding.say(std::string(1000, 'x'));
  EXPECT_TRUE(flooding.read_error());
}

TEST(WebImages, AViewerThatSaysReadyWithoutEndIsCutOff) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer flooding(*sink), good(*sink);
  for (int i = 0; i < 17; ++i) flooding.say("ready");
  EXPECT_TRUE(flooding.read_error());
  sink->publish(stream.frame(1));
  EXPECT_EQ(good.read().sequence(), 1u);
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::flooding), 1u);
}

TEST(WebImages, AViewerThatPingsWithoutEndIsCutOff) {
  const auto sink = make_web_sink({.port = 0});
  Viewer flooding(*sink);
  boost::system::error_code error;
  for (int i = 0; i < 1000 && !error; ++i) flooding.ping(error);
  EXPECT_TRUE(flooding.read_error());
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::flooding), 1u);
}

TEST(WebImages, AViewerThatPongsWithoutEndIsCutOff) {
  const auto sink = make_web_sink({.port = 0});
  Viewer flooding(*sink);
  boost::system::error_code error;
  for (int i = 0; i < 1000 && !error; ++i) flooding.pong(error);
  EXPECT_TRUE(flooding.read_error());
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::flooding), 1u);
}

TEST(WebImages, AViewerOfFragmentsWithoutEndIsCutOff) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer flooding(*sink), good(*sink);
  boost::system::error_code error;
  // A text that begins with nothing, then fragments of nothing; masked, as a client's are.
  flooding.raw(std::string_view("\x01\x80\0\0\0\0", 6), error);
  std::string fragments;
  for (int i = 0; i < 1000; ++i) fragments += std::string_view("\0\x80\0\0\0\0", 6);
  while (!error) flooding.raw(fragments, error);  // were it not cut off, for ever
  EXPECT_EQ(sink->peers().refused_for(PeerRefusal::flooding), 1u);
  sink->publish(stream.frame(1));
  EXPECT_EQ(good.read().sequence(), 1u);
}

TEST(WebImages, PublishingAllocatesNothing) {
  const auto sink = make_web_sink({.port = 0});
  synthetic::Stream stream;
  sink->setup_changed(stream.setup());
  Viewer viewer(*sink);
  std::size_t allocations = 0;
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) {
    const FinishedFrame frame = stream.frame(sequence);
    const std::size_t before = thread_allocations();
    sink->publish(frame);
    allocations += thread_allocations() - before;
    EXPECT_EQ(viewer.read().sequence(), sequence);
    viewer.say("ready");
  }
  EXPECT_EQ(allocations, 0u);
}

TEST(WebSinkOpens, PortInUseIsARuntimeFaultThatNamesIt) {
  const auto sink = make_web_sink({.port = 0});
  try {
    (void)make_web_sink({.port = sink->port()});
    FAIL();
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr(sink->url() + ": the port is in use"));
  }
  EXPECT_THROW((void)make_web_sink({.address = "here", .port = 0}), InputError);
}

}  // namespace
}  // namespace echoform
