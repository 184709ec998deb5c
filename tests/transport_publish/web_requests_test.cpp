// Requests as bytes: what could be read in two ways, peers that read nothing, and what the log says of those turned away.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/captured_log.hpp"
#include "transport/peers/refusal_log.hpp"
#include "transport/web/request_framing.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RawClient {
 public:
  /// `window`: bytes that the kernel takes before the client reads; 0 is its own choice.
  explicit RawClient(const WebSink& sink, int window = 0) : socket_(context_) {
    socket_.open(tcp::v4());
    if (window > 0) socket_.set_option(asio::socket_base::receive_buffer_size(window));
    socket_.connect({asio::ip::make_address("127.0.0.1"), sink.port()});
  }
  void send(std::string_view text) { asio::write(socket_, asio::buffer(text)); }
  /// All that comes until the server closes.
  std::string rest() {
    std::string text;
    boost::system::error_code error;
    asio::read(socket_, asio::dynamic_buffer(text), error);
    return text;
  }
  char one_byte() {
    char byte = 0;
    asio::read(socket_, asio::buffer(&byte, 1));
    return byte;
  }

 private:
  asio::io_context context_;
  tcp::socket socket_;
};

std::size_t answers(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("HTTP/1.1 "); at != std::string::npos; at = text.find("HTTP/1.1 ", at + 1)) ++count;
  return count;
}

constexpr std::string_view smuggled = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(WebFraming, RequestsThatCanBeReadInTwoWaysAreRefusedWithAllThatFollows) {
  const auto sink = make_web_sink({.port = 0});
  sink->set_metrics([] { return std::string("echoform_up 1\n"); });
  sink->set_control([](std::string, const WebSink::ControlAnswer& answer) { answer(200, "{}"); });
  const auto with = [](std::string_view fields) { return fmt::format("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", fields); };
  const auto post = [](std::string_view fields) {
    return fmt::format("POST /control HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}\r\n", fields);
  };
  for (const std::string& request : {
           with("Transfer-Encoding: xchunked\r\n"),
           with("Transfer-Encoding: chunked, identity\r\n"),
           with("Transfer-Encoding: gzip, chunked\r\n"),
           with("Transfer-Encoding: identity\r\n"),
           with("Transfer-Encoding:\r\n xchunked\r\n"),
           with("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"),
           with("Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n"),
           with("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
           with("Content-Length: 0\r\nContent-Length: 0\r\n"),
           with("Content-Length: 0, 0\r\n"),
           with("Content-Length: 0\r\nContent-Length: 42\r\n"),
           with("Content-Length: +0\r\n"),
           with("Content-Length:\r\n"),
           with("Host: localhost\r\n"),
           with("Host: evil.example\r\n"),
           with("Origin: http://localhost\r\nOrigin: http://evil.example\r\n"),
           with("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
           with("Transfer-Encoding : chunked\r\n"),
           with("X: a\nTransfer-Encoding: chunked\r\n"),
           with("X: a\rTransfer-Encoding: chunked\r\n"),
           post("Transfer-Encoding: xchunked\r\n"),
           post("Content-Length: 2\r\nContent-Length: 2\r\n"),
           post("Content-Type: text/plain\r\nContent-Length: 2\r\n"),
           post("Transfer-Encoding: chunked\r\n") + "not a size\r\n",
           std::string("GET http://localhost/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
           std::string("GET / HTTP/1.1\nHost: localhost\n\n"),
       }) {
    RawClient client(*sink);
    client.send(request + std::string(smuggled));
    const std::string answer = client.rest();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("Connection: close\r\n"), Not(HasSubstr("echoform_up"))))
        << request;
    EXPECT_EQ(answers(answer), 1U) << request;
  }
  // Chunks came with HTTP/1.1.
  RawClient old(*sink);
  old.send(
      "POST /control HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: keep-alive\r\n"
      "Transfer-Encoding: chunked\r\n\r\n" +
      std::string(smuggled));
  EXPECT_THAT(old.rest(), AllOf(StartsWith("HTTP/1.0 400"), Not(HasSubstr("echoform_up"))));
}

TEST(WebFraming, FieldsThatGoOnInTheNextLineAreRefused) {
  const auto sink = make_web_sink({.port = 0});
  sink->set_metrics([] { return std::string("echoform_up 1\n"); });
  const std::string line = "GET / HTTP/1.1\r\n";
  const std::string host = "Host: localhost\r\n";
  for (const std::string& request : {
           line + host + "X-Remark: a\r\n b\r\n\r\n",
           line + host + "X-Remark: a\r\n\tb\r\n\r\n",
           line + host + "X-Remark:\r\n b\r\n\r\n",
           line + host + " Origin: http://evil.example\r\n\r\n",
           line + "Host:\r\n localhost\r\n\r\n",
           line + host + "X-Remark: a\r\n \r\n\r\n",
       }) {
    RawClient client(*sink);
    client.send(request + std::string(smuggled));
    const std::string answer = client.rest();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("Connection: close\r\n"), Not(HasSubstr("echoform_up"))))
        << request;
    EXPECT_EQ(answers(answer), 1U) << request;
  }
  // However it is cut, and in the second request of a connection too.
  RawClient slow(*sink);
  for (const char c : "GET /healthz HTTP/1.1\r\n" + host + "\r\n" + line + host + "X-Remark: a\r\n b\r\n\r\n") slow.send({&c, 1});
  const std::string both = slow.rest();
  EXPECT_THAT(both, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("HTTP/1.1 400")));
}

TEST(WebFraming, FoldingIsLookedForInTheHeaderAlone) {
  for (const auto& [text, folded] : std::vector<std::pair<std::string, bool>>{
           {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", false},
           {"GET / HTTP/1.1\r\nHost: a\r\n\r\n body\r\n body", false},
           {"GET / HTTP/1.1\r\nHost: \t a\r\n\r\n", false},
           {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", true},
           {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", true},
           {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", false},  // which the parser refuses
       }) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      FoldingFinder finder;
      static_cast<void>(finder.find(std::string_view(text).substr(0, cut)));
      EXPECT_EQ(finder.find(std::string_view(text).substr(cut)), folded) << text << " cut at " << cut;
    }
  }
}

TEST(WebFraming, OneLengthOrChunksAreReadToTheirEnd) {
  const auto sink = make_web_sink({.port = 0});
  sink->set_control(
      [](const std::string& body, const WebSink::ControlAnswer& answer) { answer(200, fmt::format("<{}>", body)); });
  const std::string post = "POST /control HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  RawClient client(*sink);
  client.send(post + "Content-Length: 2\r\n\r\n{}" + post +
              "Transfer-Encoding: Chunked\r\n\r\n1\r\n[\r\n1;x=y\r\n]\r\n0\r\n\r\n" +
              "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.rest();
  EXPECT_THAT(answer, AllOf(HasSubstr("<{}>"), HasSubstr("<[]>"), ::testing::EndsWith("ok\n")));
  EXPECT_EQ(answers(answer), 3U);
}

TEST(WebLimits, PeersThatAskAndNeverReadKeepNobodyOut) {
  const auto sink = make_web_sink({.port = 0, .connections = 4, .request_timeout = 10min});
  // More than all buffers on the way hold (those that the kernel lets grow are a few MB).
  sink->set_metrics([] { return std::string(std::size_t{12} << 20, 'x'); });
  std::vector<std::unique_ptr<RawClient>> stuck;
  for (int i = 0; i < 12; ++i) {
    stuck.push_back(std::make_unique<RawClient>(*sink, 4096));
    stuck.back()->send(std::string(smuggled) + std::string(smuggled));
    EXPECT_EQ(stuck.back()->one_byte(), 'H');  // the answer has begun, and will not end
    RawClient good(*sink);
    good.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(good.rest(), ::testing::EndsWith("ok\n")) << i;
  }
  EXPECT_LE(sink->peers().open, 5U);
  EXPECT_GE(sink->peers().refused_for(PeerRefusal::silent), 8U);
}

TEST(WebLog, EveryReasonForWhichPeersAreTurnedAwayHasALine) {
  const test::CapturedLog log;
  const auto sink = make_web_sink({.port = 0, .token = "secret"});
  for (const std::string_view request :
       {"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", "nonsense\r\n\r\n"}) {
    RawClient client(*sink);
    client.send(request);
    static_cast<void>(client.rest());
  }
  const std::string text = log.text();
  for (const char* reason : {"wrong_token", "wrong_host", "wrong_origin", "bad_request"})
    EXPECT_THAT(text, HasSubstr(fmt::format("warning: web server: a peer from 127.0.0.1 was turned away: {}\n", reason)));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

TEST(RefusalLog, AFloodHasALineASecondWithItsCount) {
  const test::CapturedLog captured;
  ManualClock clock;
  RefusalLog log("web server", &clock);
  for (int i = 0; i < 1000; ++i) log.refused(PeerRefusal::too_many, "10.0.0.1");
  log.refused(PeerRefusal::flooding, "");  // another cause has its own
  clock.advance(1s);
  log.refused(PeerRefusal::too_many, "10.0.0.2");
  EXPECT_EQ(captured.text(),
            "warning: web server: a peer from 10.0.0.1 was turned away: too_many\n"
            "warning: web server: a peer was turned away: flooding\n"
            "warning: web server: a peer from 10.0.0.2 was turned away: too_many (and 999 more since the last such line)\n");
}

}  // namespace
}  // namespace echoform
