// CURVE on the publishers: who has the wrong key, or none, gets nothing, while one with the right keys beside it gets everything.
#include <gmock/gmock.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

#include "base/errors.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/transport_publish/synthetic_stream.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/telemetry_publisher.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t images = 50;

// A subscriber whose connection tells how it fares.
class Watched {
 public:
  Watched(const std::string& endpoint, const std::optional<CurveClientKeys>& keys)
      : socket_(context_, zmq::socket_type::sub), events_(context_, zmq::socket_type::pair) {
    socket_.set(zmq::sockopt::linger, 0);
    if (keys) {
      socket_.set(zmq::sockopt::curve_publickey, text(keys->own.public_key));
      socket_.set(zmq::sockopt::curve_secretkey, text(keys->own.secret_key));
      socket_.set(zmq::sockopt::curve_serverkey, text(keys->server_key));
    }
    socket_.set(zmq::sockopt::subscribe, "");
    EXPECT_EQ(zmq_socket_monitor(socket_.handle(), "inproc://events", ZMQ_EVENT_ALL), 0);
    events_.connect("inproc://events");
    events_.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::chrono::milliseconds(patience).count()));
    socket_.connect(endpoint);
  }

  // Waits for one of these events; 0 if another comes that ends a handshake, or none.
  int wait(int wanted) {
    zmq::message_t event, address;
    while (events_.recv(event) && events_.recv(address)) {
      std::uint16_t what = 0;
      std::memcpy(&what, event.data(), sizeof what);
      if ((what & wanted) != 0) return what;
    }
    return 0;
  }

  bool has_message() {
    zmq::message_t message;
    return socket_.recv(message, zmq::recv_flags::dontwait).has_value();
  }

 private:
  static std::string text(const CurveKey& key) { return curve_text(key); }
  zmq::context_t context_;
  zmq::socket_t socket_, events_;
};

struct Keys {
  CurvePair server = make_curve_pair();
  CurvePair client = make_curve_pair();
  CurvePair stranger = make_curve_pair();
  [[nodiscard]] CurveServerKeys listing() const {
    return {server.secret_key, {stranger_of_the_list.public_key, client.public_key}};
  }
  [[nodiscard]] CurveClientKeys good() const { return {client, server.public_key}; }
  [[nodiscard]] CurveClientKeys unlisted() const { return {stranger, server.public_key}; }
  [[nodiscard]] CurveClientKeys wrong_server() const { return {client, stranger.public_key}; }
  CurvePair stranger_of_the_list = make_curve_pair();
};

constexpr int failed =
    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

std::uint64_t refused(const ZeromqPeerCounters& peers, PeerRefusal reason) {
  return peers.refused[static_cast<std::size_t>(reason)].load();
}

// The guard, a thread of its own, may count a little after the client knows.
bool comes_to(const ZeromqPeerCounters& peers, PeerRefusal reason, std::uint64_t count) {
  return eventually([&] { return refused(peers, reason) >= count; });
}

// Reaches the publisher with good keys, then reads every image of a run beside `bad`, which shall get none.
void expect_only_the_good_one_is_served(ZeromqSink& sink, const Keys& keys, Watched& bad) {
  synthetic::Stream stream;
  sink.setup_changed(stream.setup());
  ImageSubscriber good({.endpoint = sink.endpoint(), .stream = "echoform", .latest_only = false, .keys = keys.good()});
  ASSERT_TRUE(eventually([&] {
    sink.publish(stream.frame(0));
    return good.receive(10ms) != nullptr;
  }));
  while (good.receive(50ms) != nullptr) {
  }
  for (std::uint64_t sequence = 1; sequence <= images; ++sequence) {
    sink.publish(stream.frame(sequence));
    const wire::Image* image = good.receive(patience);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->sequence(), sequence);
  }
  EXPECT_FALSE(bad.has_message());
}

TEST(CurveImages, ClientWithTheWrongServerKeyGetsNothing) {
  const Keys keys;
  const auto sink = make_zeromq_sink({.port = 0, .keys = keys.listing()});
  Watched bad(sink->endpoint(), keys.wrong_server());
  ASSERT_NE(bad.wait(failed), 0) << "it is told, or cut off";
  expect_only_the_good_one_is_served(*sink, keys, bad);
  EXPECT_TRUE(comes_to(sink->peers(), PeerRefusal::bad_handshake, 1));
}

TEST(CurveImages, ClientWithAnUnlistedKeyGetsNothing) {
  const Keys keys;
  const auto sink = make_zeromq_sink({.port = 0, .keys = keys.listing()});
  Watched bad(sink->endpoint(), keys.unlisted());
  ASSERT_EQ(bad.wait(failed), ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
  expect_only_the_good_one_is_served(*sink, keys, bad);
  EXPECT_TRUE(comes_to(sink->peers(), PeerRefusal::wrong_key, 1));
}

TEST(CurveImages, ClientWithoutCurveGetsNothing) {
  const Keys keys;
  const auto sink = make_zeromq_sink({.port = 0, .keys = keys.listing()});
  Watched bad(sink->endpoint(), std::nullopt);
  ASSERT_NE(bad.wait(failed), 0);
  expect_only_the_good_one_is_served(*sink, keys, bad);
  EXPECT_TRUE(comes_to(sink->peers(), PeerRefusal::bad_handshake, 1));
}

// Protocols older than CURVE know no keys at all: a peer that speaks one is not taken for a friend.
TEST(CurveImages, ClientOfAnOlderProtocolGetsNothing) {
  using boost::asio::ip::tcp;
  const Keys keys;
  for (const int revision : {0, 1}) {
    const auto sink = make_zeromq_sink({.port = 0, .keys = keys.listing()});
    boost::asio::io_context context;
    tcp::socket socket(context);
    socket.connect({boost::asio::ip::address_v4::loopback(), sink->port()});
    // ZMTP 1.0: an empty identity. ZMTP 2.0: signature, revision 1, socket type SUB, an empty identity. Then a subscription.
    std::string greeting = revision == 0 ? std::string("\x01\x00", 2) : std::string("\xFF\0\0\0\0\0\0\0\x01\x7F\x01\x02\0\0", 14);
    greeting += revision == 0 ? std::string("\x02\x00\x01", 3) : std::string("\0\x01\x01", 3);
    boost::asio::write(socket, boost::asio::buffer(greeting));
    synthetic::Stream stream;
    sink->setup_changed(stream.setup());
    // Its end comes, after a greeting at most.
    std::string answer;
    boost::system::error_code error;
    while (!error) {
      char byte = 0;
      if (boost::asio::read(socket, boost::asio::buffer(&byte, 1), error) == 1) answer += byte;
    }
    EXPECT_LE(answer.size(), 64u) << "revision " << revision;
  }
}

TEST(CurveImages, WithoutAListEveryClientThatKnowsTheServerIsServed) {
  const Keys keys;
  const auto sink = make_zeromq_sink({.port = 0, .keys = CurveServerKeys{keys.server.secret_key, {}}});
  Watched bad(sink->endpoint(), keys.wrong_server());
  ASSERT_NE(bad.wait(failed), 0);
  Watched unlisted(sink->endpoint(), keys.unlisted());
  EXPECT_EQ(unlisted.wait(failed | ZMQ_EVENT_HANDSHAKE_SUCCEEDED), ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
  expect_only_the_good_one_is_served(*sink, keys, bad);
  EXPECT_EQ(refused(sink->peers(), PeerRefusal::wrong_key), 0u);
}

TEST(CurveTelemetry, WrongKeysGetNothingAndTheRightOneEverything) {
  const Keys keys;
  TelemetryPublisher publisher({.port = 0, .interval = 20ms, .keys = keys.listing()}, [] { return TelemetryReport(); });
  Watched wrong_server(publisher.endpoint(), keys.wrong_server());
  Watched unlisted(publisher.endpoint(), keys.unlisted());
  Watched plain(publisher.endpoint(), std::nullopt);
  ASSERT_NE(wrong_server.wait(failed), 0);
  ASSERT_EQ(unlisted.wait(failed), ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
  ASSERT_NE(plain.wait(failed), 0);
  TelemetrySubscriber good(publisher.endpoint(), "", keys.good());
  for (int i = 0; i < 5; ++i) ASSERT_NE(good.receive(patience), nullptr);
  EXPECT_FALSE(wrong_server.has_message());
  EXPECT_FALSE(unlisted.has_message());
  EXPECT_FALSE(plain.has_message());
  EXPECT_TRUE(comes_to(publisher.peers(), PeerRefusal::wrong_key, 1));
  EXPECT_TRUE(comes_to(publisher.peers(), PeerRefusal::bad_handshake, 2));
}

// The sockets that others of the program's doors are made of.
TEST(CurveSockets, PullAndReplyServeOnlyListedClients) {
  const Keys keys;
  ZeromqContext context(keys.listing());
  zmq::socket_t pull = bind_socket(context, {.type = zmq::socket_type::pull, .what = "test"});
  zmq::socket_t reply = bind_socket(context, {.type = zmq::socket_type::rep, .what = "test"});
  constexpr auto limit = static_cast<int>(std::chrono::milliseconds(patience).count());
  pull.set(zmq::sockopt::rcvtimeo, limit);
  reply.set(zmq::sockopt::rcvtimeo, limit);
  zmq::context_t clients;
  const auto connect = [&](zmq::socket_type type, const zmq::socket_t& to, const std::optional<CurveClientKeys>& own) {
    return connect_socket(clients, {.type = type, .endpoint = tcp_endpoint("127.0.0.1", bound_port(to)), .keys = own});
  };
  std::vector<zmq::socket_t> strangers;
  for (const auto& bad : {std::optional(keys.unlisted()), std::optional(keys.wrong_server()), std::optional<CurveClientKeys>()}) {
    for (const auto* to : {&pull, &reply}) {
      strangers.push_back(connect(to == &pull ? zmq::socket_type::push : zmq::socket_type::req, *to, bad));
      (void)strangers.back().send(zmq::str_buffer("stranger"), zmq::send_flags::dontwait);
    }
  }
  // Each of the six was turned away before the good ones come.
  ASSERT_TRUE(comes_to(context.peers(), PeerRefusal::wrong_key, 2));
  ASSERT_TRUE(comes_to(context.peers(), PeerRefusal::bad_handshake, 4));
  zmq::socket_t push = connect(zmq::socket_type::push, pull, keys.good());
  zmq::socket_t request = connect(zmq::socket_type::req, reply, keys.good());
  request.set(zmq::sockopt::rcvtimeo, limit);
  (void)push.send(zmq::str_buffer("friend"), zmq::send_flags::none);
  (void)request.send(zmq::str_buffer("friend"), zmq::send_flags::none);
  zmq::message_t message;
  ASSERT_TRUE(pull.recv(message));
  EXPECT_EQ(message.to_string(), "friend");
  ASSERT_TRUE(reply.recv(message));
  EXPECT_EQ(message.to_string(), "friend");
  EXPECT_STREQ(message.gets("User-Id"), curve_text(keys.client.public_key).c_str());
  (void)reply.send(zmq::str_buffer("yes"), zmq::send_flags::none);
  ASSERT_TRUE(request.recv(message));
  EXPECT_EQ(message.to_string(), "yes");
  EXPECT_FALSE(pull.recv(message, zmq::recv_flags::dontwait));
  EXPECT_FALSE(reply.recv(message, zmq::recv_flags::dontwait));
}

}  // namespace
}  // namespace echoform
