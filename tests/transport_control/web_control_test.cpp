// POST /control: who may change settings from a browser, and that the web server's thread waits for nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "tests/support/patience.hpp"
#include "transport/control/control_json.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(context_) { socket_.connect({asio::ip::make_address("127.0.0.1"), port}); }
  void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
  /// Everything until the server closes.
  std::string rest() {
    std::string text;
    boost::system::error_code ended;
    asio::read(socket_, asio::dynamic_buffer(text), ended);
    return text;
  }

 private:
  asio::io_context context_;
  tcp::socket socket_;
};

const std::string json = "Content-Type: application/json\r\n";

std::string post(std::uint16_t port, const std::string& headers, const std::string& body,
                 const std::string& target = "/control") {
  Client client(port);
  client.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.rest();
}

std::string get(std::uint16_t port, const std::string& target) {
  Client client(port);
  client.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.rest();
}

WebSinkOptions any_port() {
  WebSinkOptions options;
  options.port = 0;
  return options;
}

/// Keeps what was asked; answers when it is told to.
struct Desk {
  void take(std::string body, WebSink::ControlAnswer answer) {
    const std::lock_guard lock(mutex);
    bodies.push_back(std::move(body));
    answers.push_back(std::move(answer));
    changed.notify_all();
  }
  WebSink::ControlAnswer next(std::size_t index) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, patience, [&] { return answers.size() > index; }));
    return answers.at(index);
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> bodies;
  std::vector<WebSink::ControlAnswer> answers;
};

void answer_at_once(WebSink& sink) {
  sink.set_control([](const std::string& body, const WebSink::ControlAnswer& answer) { answer(200, "you said " + body); });
}

TEST(WebControl, AnswersWithStatusAndJson) {
  const auto sink = make_web_sink(any_port());
  EXPECT_THAT(post(sink->port(), json, "{}"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(sink->port(), "/streams.json"), testing::Not(HasSubstr("control")));
  sink->set_control([](const std::string& body, const WebSink::ControlAnswer& answer) { answer(422, "{\"got\":" + body + "}"); });
  EXPECT_THAT(get(sink->port(), "/streams.json"), HasSubstr("\"control\":true"));
  const std::string reply = post(sink->port(), json, "{\"a\":1}");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(reply, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(reply, testing::EndsWith("{\"got\":{\"a\":1}}"));
  EXPECT_THAT(post(sink->port(), "Content-Type: Application/JSON; charset=utf-8\r\n", "{}"), StartsWith("HTTP/1.1 422"));
}

TEST(WebControl, OnlyByPostWithJsonFromOwnPages) {
  const auto sink = make_web_sink(any_port());
  answer_at_once(*sink);
  const std::string by_get = get(sink->port(), "/control");
  EXPECT_THAT(by_get, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(by_get, HasSubstr("Allow: POST"));
  EXPECT_THAT(post(sink->port(), json, "{}", "/streams.json"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(post(sink->port(), "", "{}"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(post(sink->port(), "Content-Type: text/plain\r\n", "{}"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(post(sink->port(), "Content-Type: application/x-www-form-urlencoded\r\n", "{}"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(post(sink->port(), json + "Origin: http://elsewhere.example\r\n", "{}"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post(sink->port(), json + "Origin: null\r\n", "{}"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post(sink->port(), json + "Origin: http://localhost\r\n", "{}"), StartsWith("HTTP/1.1 200"));
}

TEST(WebControl, AsksForTheToken) {
  WebSinkOptions options = any_port();
  options.token = "sesame";
  const auto sink = make_web_sink(options);
  answer_at_once(*sink);
  EXPECT_THAT(post(sink->port(), json, "{}"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(post(sink->port(), json, "{}", "/control?token=other"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(post(sink->port(), json, "{}", "/control?token=sesame"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(post(sink->port(), json + "Authorization: Bearer sesame\r\n", "{}"), StartsWith("HTTP/1.1 200"));
}

TEST(WebControl, fault_ControlBodiesThatAreTooLongOrCutShort) {
  const auto sink = make_web_sink(any_port());
  Desk desk;
  sink->set_control([&](std::string body, WebSink::ControlAnswer answer) {
    answer(200, "{}");
    desk.take(std::move(body), std::move(answer));
  });
  EXPECT_THAT(post(sink->port(), json, std::string(16384, ' ')), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(post(sink->port(), json, std::string(16385, ' ')), StartsWith("HTTP/1.1 413"));
  {
    Client chunked(sink->port());
    chunked.send("POST /control HTTP/1.1\r\nHost: localhost\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n5000\r\n" +
                 std::string(0x5000, ' ') + "\r\n");
    EXPECT_THAT(chunked.rest(), StartsWith("HTTP/1.1 413"));
  }
  {
    Client cut(sink->port());
    cut.send("POST /control HTTP/1.1\r\nHost: localhost\r\n" + json + "Content-Length: 100\r\n\r\n{\"a");
  }
  EXPECT_THAT(get(sink->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(desk.bodies.size(), 1U) << "of four requests one was whole and short enough";
}

TEST(WebControl, TheServerGoesOnWhileARequestIsServed) {
  const auto sink = make_web_sink(any_port());
  Desk desk;
  sink->set_control([&](std::string body, WebSink::ControlAnswer answer) { desk.take(std::move(body), std::move(answer)); });
  auto first = std::async(std::launch::async, [&] { return post(sink->port(), json, "1"); });
  const auto answer = desk.next(0);
  auto second = std::async(std::launch::async, [&] { return post(sink->port(), json, "2"); });
  const auto other = desk.next(1);
  EXPECT_THAT(get(sink->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  std::thread([&] { other(200, "second"); }).join();
  EXPECT_THAT(second.get(), testing::EndsWith("second"));
  std::thread([&] { answer(409, "first"); }).join();
  EXPECT_THAT(first.get(), testing::EndsWith("first"));
  answer(200, "again");  // nobody waits for it any more
  EXPECT_THAT(get(sink->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST(WebControl, fault_ControlAnswersToThoseWhoHaveGone) {
  auto sink = make_web_sink(any_port());
  Desk desk;
  sink->set_control([&](std::string body, WebSink::ControlAnswer answer) { desk.take(std::move(body), std::move(answer)); });
  {
    Client gone(sink->port());
    gone.send("POST /control HTTP/1.1\r\nHost: localhost\r\n" + json + "Content-Length: 2\r\n\r\n{}");
    static_cast<void>(desk.next(0));
  }
  desk.next(0)(200, "{}");
  EXPECT_THAT(get(sink->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  Client waits(sink->port());
  waits.send("POST /control HTTP/1.1\r\nHost: localhost\r\n" + json + "Content-Length: 2\r\n\r\n{}");
  const auto late = desk.next(1);
  sink.reset();
  late(200, "{}");  // the server has gone
  EXPECT_EQ(waits.rest(), "");
}

TEST(ControlJson, IsTheMessages) {
  wire::ControlRequest request;
  EXPECT_EQ(parse_control_json(
                R"({"action": "set", "changes": [{"key": "grid.x", "value": "[0, 1]"}], "expected_revision": "7"})", request),
            std::nullopt);
  EXPECT_EQ(request.action(), "set");
  ASSERT_EQ(request.changes_size(), 1);
  EXPECT_EQ(request.changes(0).value(), "[0, 1]");
  EXPECT_EQ(request.expected_revision(), 7U);

  wire::ControlReply reply;
  reply.set_outcome(wire::CONFLICT);
  reply.set_revision(8);
  reply.add_settings()->set_key("grid.x");
  reply.mutable_settings(0)->set_low(-10.0);
  const std::string text = control_json(reply);
  EXPECT_THAT(text, HasSubstr("\"outcome\":\"CONFLICT\""));
  EXPECT_THAT(text, HasSubstr("\"revision\":\"8\""));
  EXPECT_THAT(text, HasSubstr("\"low\":-10"));
  EXPECT_THAT(text, HasSubstr("\"value\":\"\""));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"high\"")));
  EXPECT_EQ(http_status(wire::DONE), 200U);
  EXPECT_EQ(http_status(wire::REFUSED), 422U);
  EXPECT_EQ(http_status(wire::CONFLICT), 409U);
  EXPECT_EQ(http_status(wire::FAILED), 500U);
}

TEST(ControlJson, fault_ControlTextThatIsNoRequest) {
  for (const std::string& text :
       {std::string("not json"), std::string("[]"), std::string("{\"action\": 5"), std::string("{\"fly\": true}"),
        std::string(10000, '['), std::string("{\"action\": \"\xC3\x28\"}")}) {
    wire::ControlRequest request;
    const auto fault = parse_control_json(text, request);
    ASSERT_TRUE(fault) << text.substr(0, 40);
    EXPECT_EQ(*fault, "control request: found " + std::to_string(text.size()) +
                          " bytes that are none; expected a ControlRequest as JSON");
  }
}

}  // namespace
}  // namespace echoform
