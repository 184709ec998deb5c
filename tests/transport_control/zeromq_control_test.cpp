// The control door: REQ clients of every kind, good and bad, and a door that serves on.
#include "transport/control/zeromq_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "base/sanitizers.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/process.hpp"
#include "tests/support/zmtp_peer.hpp"
#include "transport/control/waiting_requests.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using testing_support::repeated;
using testing_support::ZmtpPeer;

/// Answers with the action that was asked for; can be held in the middle of a request.
struct Echo {
  wire::ControlReply operator()(const wire::ControlRequest& request) {
    std::unique_lock lock(mutex);
    ++served;
    changed.notify_all();
    changed.wait(lock, [&] { return !held || request.action() != "slow"; });
    wire::ControlReply reply;
    reply.set_outcome(wire::DONE);
    reply.set_reason(request.action());
    return reply;
  }
  void hold(bool on) {
    const std::lock_guard lock(mutex);
    held = on;
    changed.notify_all();
  }
  [[nodiscard]] int requests() {
    const std::lock_guard lock(mutex);
    return served;
  }
  [[nodiscard]] bool wait_served(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return served >= count; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  int served = 0;
  bool held = false;
};

struct Door {
  explicit Door(std::optional<CurveServerKeys> keys = {})
      : control({.address = "127.0.0.1", .port = 0, .pace = 0ms, .keys = std::move(keys)},
                [this](const auto& request) { return echo(request); }) {}
  Echo echo;
  ZeromqControl control;
};

wire::ControlRequest asking(const std::string& action) {
  wire::ControlRequest request;
  request.set_action(action);
  return request;
}

/// A client of our own, for those who do not keep to the rules.
zmq::socket_t client(zmq::context_t& context, const Door& door, zmq::socket_type type) {
  ConnectOptions options;
  options.type = type;
  options.endpoint = door.control.endpoint();
  options.message_limit = 1 << 20;
  zmq::socket_t socket = connect_socket(context, options);
  socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::chrono::milliseconds(patience).count()));
  return socket;
}

void send(zmq::socket_t& socket, std::string_view bytes, zmq::send_flags flags = zmq::send_flags::none) {
  zmq::message_t message(bytes.data(), bytes.size());
  ASSERT_TRUE(socket.send(message, flags));
}

wire::ControlReply receive(zmq::socket_t& socket) {
  zmq::message_t message;
  wire::ControlReply reply;
  EXPECT_TRUE(socket.recv(message));
  EXPECT_TRUE(reply.ParseFromArray(message.data(), static_cast<int>(message.size())));
  return reply;
}

TEST(ControlDoor, AnswersOneAfterTheOther) {
  Door door;
  for (const char* action : {"get", "set", "reset"}) {
    const wire::ControlReply reply = ask_control(door.control.endpoint(), asking(action), patience);
    EXPECT_EQ(reply.outcome(), wire::DONE);
    EXPECT_EQ(reply.reason(), action);
  }
}

TEST(ControlDoor, TakesRequestsThatAreNumbered) {
  Door door;
  zmq::context_t context;
  zmq::socket_t socket = client(context, door, zmq::socket_type::req);
  socket.set(zmq::sockopt::req_correlate, true);
  socket.set(zmq::sockopt::req_relaxed, true);
  send(socket, asking("get").SerializeAsString());
  EXPECT_EQ(receive(socket).reason(), "get");
}

TEST(ControlDoor, fault_ControlRequestThatIsNone) {
  Door door;
  zmq::context_t context;
  zmq::socket_t socket = client(context, door, zmq::socket_type::req);
  send(socket, "\xFF\xFF nonsense");
  const wire::ControlReply reply = receive(socket);
  EXPECT_EQ(reply.outcome(), wire::REFUSED);
  EXPECT_THAT(reply.reason(), HasSubstr("found 11 bytes that are none; expected a ControlRequest"));
  // Text that is not UTF-8 is no text.
  send(socket, std::string("\x0A\x02\xC3\x28", 4));
  EXPECT_EQ(receive(socket).outcome(), wire::REFUSED);
  send(socket, "");
  EXPECT_EQ(receive(socket).outcome(), wire::DONE)
      << "an empty message is a request without an action: not for the door to judge";
  EXPECT_EQ(door.echo.requests(), 1);
}

TEST(ControlDoor, fault_ControlMessagesWithoutAnEnvelopeOrWithManyParts) {
  Door door;
  zmq::context_t context;
  zmq::socket_t dealer = client(context, door, zmq::socket_type::dealer);
  send(dealer, asking("bare").SerializeAsString());
  for (int part = 0; part < 50; ++part) send(dealer, "part", zmq::send_flags::sndmore);
  send(dealer, asking("many").SerializeAsString());
  send(dealer, "", zmq::send_flags::sndmore);
  send(dealer, asking("good").SerializeAsString());
  zmq::message_t empty;
  ASSERT_TRUE(dealer.recv(empty));
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(receive(dealer).reason(), "good") << "the first that could be answered";
  EXPECT_EQ(door.echo.requests(), 1);
}

TEST(ControlDoor, fault_ControlMessageThatIsTooLong) {
  Door door;
  zmq::context_t context;
  zmq::socket_t socket = client(context, door, zmq::socket_type::dealer);
  send(socket, "", zmq::send_flags::sndmore);
  send(socket, std::string(100'000, 'x'));
  // The sender is cut off; whoever keeps to the limit is served.
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
  EXPECT_EQ(door.echo.requests(), 1);
}

TEST(ControlDoor, fault_ControlClientThatDiesBetweenQuestionAndAnswer) {
  Door door;
  door.echo.hold(true);
  {
    zmq::context_t context;
    zmq::socket_t socket = client(context, door, zmq::socket_type::req);
    send(socket, asking("slow").SerializeAsString());
    ASSERT_TRUE(door.echo.wait_served(1));
  }
  door.echo.hold(false);
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

TEST(ControlDoor, fault_ControlClientThatNeverReadsItsAnswers) {
  Door door;
  zmq::context_t context;
  zmq::socket_t deaf = client(context, door, zmq::socket_type::dealer);
  deaf.set(zmq::sockopt::rcvhwm, 1);
  for (int k = 0; k < 300; ++k) {
    send(deaf, "", zmq::send_flags::sndmore);
    send(deaf, asking("deaf").SerializeAsString());
  }
  for (int k = 0; k < 5; ++k) EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

// libzmq 4.3.4 reads nothing more of a peer whose queue is full, and ends the program if that peer is gone once a heartbeat is
// due.
TEST(ControlDoor, fault_ControlClientsAreHeardWhileARequestIsServed) {
  Door door;
  door.echo.hold(true);
  std::jthread slow([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("slow"), patience).reason(), "slow"); });
  ASSERT_TRUE(door.echo.wait_served(1));
  const std::string ask = ZmtpPeer::message("", true) + ZmtpPeer::message(asking("get").SerializeAsString());
  ZmtpPeer peer(door.control.port(), "REQ");
  peer.send(repeated(ask, 100));
  peer.ping();  // comes back only if what stands before it was read
  const std::string heartbeat = ZmtpPeer::command(std::string("\x04PING\0\0", 7));
  for (int i = 0; i < 20; ++i) {
    ZmtpPeer leaving(door.control.port(), "REQ");
    leaving.send(repeated(repeated(ask, 30) + heartbeat, 20));
    leaving.reset();
  }
  door.echo.hold(false);
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

TEST(ControlDoor, fault_ControlClientWithMoreRequestsThanMayWait) {
  Door door;
  door.echo.hold(true);
  std::jthread slow([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("slow"), patience).reason(), "slow"); });
  ASSERT_TRUE(door.echo.wait_served(1));
  ZmtpPeer eager(door.control.port(), "REQ");
  constexpr int asked = 6;
  eager.send(repeated(ZmtpPeer::message("", true) + ZmtpPeer::message(asking("eager").SerializeAsString()), asked));
  int done = 0, refused = 0;
  const auto read_answer = [&] {
    const std::string frame = eager.frame();
    wire::ControlReply reply;
    if (frame.empty() || frame.starts_with("\x04PING")) return;
    ASSERT_TRUE(reply.ParseFromString(frame));
    done += reply.outcome() == wire::DONE ? 1 : 0;
    refused += reply.outcome() == wire::REFUSED ? 1 : 0;
    if (reply.outcome() == wire::REFUSED) {
      EXPECT_THAT(reply.reason(), HasSubstr("expected fewer"));
    }
  };
  // Those that are refused are answered at once, the others in their turn.
  while (refused < asked - static_cast<int>(WaitingRequests::most_of_one)) ASSERT_NO_FATAL_FAILURE(read_answer());
  EXPECT_EQ(done, 0);
  door.echo.hold(false);
  while (done + refused < asked) ASSERT_NO_FATAL_FAILURE(read_answer());
  EXPECT_EQ(done, static_cast<int>(WaitingRequests::most_of_one));
  EXPECT_EQ(refused, asked - done);
}

// What is not taken waits in libzmq, whose queues have no limit.
TEST(ControlDoor, fault_ControlRequestsAreTakenWhileOneIsServed) {
  Door door;
  door.echo.hold(true);
  std::jthread slow([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("slow"), patience).reason(), "slow"); });
  ASSERT_TRUE(door.echo.wait_served(1));
  zmq::context_t context;
  zmq::socket_t eager = client(context, door, zmq::socket_type::dealer);
  for (std::size_t k = 0; k <= WaitingRequests::most_of_one; ++k) {
    send(eager, "", zmq::send_flags::sndmore);
    send(eager, asking("get").SerializeAsString());
  }
  zmq::message_t empty;
  const bool answered = eager.recv(empty).has_value();
  EXPECT_TRUE(answered) << "the one that is beyond what may wait is refused at once";
  if (answered) {
    EXPECT_THAT(receive(eager).reason(), HasSubstr("expected fewer"));
  }
  EXPECT_EQ(door.echo.requests(), 1);
  door.echo.hold(false);
}

TEST(ControlDoor, fault_ControlMessageOfPartsWithoutEnd) {
  Door door;
  ZmtpPeer endless(door.control.port(), "REQ");
  // Below what a client may send at once; no whole message among it.
  static_cast<void>(endless.try_send(repeated(ZmtpPeer::message("", true), 75'000)));
  endless.wait_for_end();
  EXPECT_EQ(door.control.peers()->refused_for(PeerRefusal::flooding), 1u);
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

// A part that is read by itself, of 34 bytes and more, would hold the 18 KB that libzmq read it into.
TEST(ControlDoor, fault_ControlPartsOneByOneTakeLittleMoreThanTheirBytes) {
  if (ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) GTEST_SKIP() << "a sanitizer has its own heap";
  Door door;
  ZmtpPeer slow(door.control.port(), "REQ");
  slow.ping();
  const std::size_t before = testing_support::heap_in_use();
  const std::string part = ZmtpPeer::message(std::string(34, 'x'), true);
  constexpr std::size_t parts = 2000;
  for (std::size_t k = 0; k < parts; ++k) {
    slow.send(part);
    slow.ping();  // has been read, alone
  }
  const std::size_t after = testing_support::heap_in_use();
  EXPECT_EQ(door.control.peers()->refused_for(PeerRefusal::flooding), 0u) << "80 KB: less than may come between messages";
  // docs/security.md: up to 32 times the bytes. Whole buffers would be 500 times as much.
  EXPECT_LT(after - std::min(before, after), 32 * parts * part.size());
}

TEST(ControlDoor, fault_ControlMemoryIsGivenBackWhenPeersHaveGone) {
  if (ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) GTEST_SKIP() << "a sanitizer has its own heap";
  Door door;
  const std::size_t before = testing_support::resident_memory();
  constexpr std::size_t MB = 1'000'000;
  {
    std::vector<std::unique_ptr<ZmtpPeer>> peers;
    for (int k = 0; k < 24; ++k) peers.push_back(std::make_unique<ZmtpPeer>(door.control.port(), "REQ"));
    // In turns, so that what is kept of one lies between what is kept of the others; 80 KB of each, in parts of 2 bytes that
    // take 64: 61 MB in all.
    const std::string some = repeated(ZmtpPeer::message("", true), 4000);
    for (int turn = 0; turn < 10; ++turn) {
      for (const auto& peer : peers) peer->send(some);
      for (const auto& peer : peers) peer->ping();
    }
    EXPECT_GT(testing_support::resident_memory(), before + 50 * MB) << "or this test tests nothing";
    EXPECT_EQ(door.control.peers()->refused_for(PeerRefusal::flooding), 0u);
    while (peers.size() > 1) {
      peers.front()->reset();
      peers.erase(peers.begin());
    }
    // One stays, with its 3 MB all over the heap.
    EXPECT_TRUE(eventually([&] { return testing_support::resident_memory() <= before + 28 * MB; }));
  }
}

// libzmq frees what peers sent in its own time: on a busy machine seconds after they have gone.
TEST(ControlDoor, fault_ControlMemoryThatIsFreedLateIsGivenBackToo) {
  if (ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER) GTEST_SKIP() << "a sanitizer has its own heap";
  Door door;
  constexpr std::size_t MB = 1'000'000;
  std::vector<std::unique_ptr<char[]>> late;
  std::unique_ptr<char[]> last;
  const std::size_t before = testing_support::resident_memory();
  {
    std::vector<std::unique_ptr<ZmtpPeer>> peers;
    for (int k = 0; k < 24; ++k) peers.push_back(std::make_unique<ZmtpPeer>(door.control.port(), "REQ"));
    const std::string some = repeated(ZmtpPeer::message("", true), 40'000);
    for (const auto& peer : peers) peer->send(some);
    for (const auto& peer : peers) peer->ping();
    // In the place of what libzmq has not freed yet; something above it stays, so that it is not the heap's end.
    for (int block = 0; block < 60'000; ++block) late.push_back(std::make_unique<char[]>(1000));
    last = std::make_unique<char[]>(1000);
    // While they are there: once they have gone, it may be given back at once.
    ASSERT_GT(testing_support::resident_memory(), before + 100 * MB) << "or this test tests nothing";
    for (const auto& peer : peers) peer->reset();
  }
  EXPECT_TRUE(eventually([&] { return testing_support::resident_memory() <= before + 80 * MB; })) << "of the peers";
  late.clear();
  EXPECT_TRUE(eventually([&] { return testing_support::resident_memory() <= before + 28 * MB; })) << "what came later";
}

TEST(ControlDoor, fault_ControlPeersAreCountedAndTurnedAwayWhereDescriptorsRunOut) {
  Door door;
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
  const std::uint64_t before = door.control.peers()->accepted;
  // The test's own ends are made first: they are of the same process.
  std::vector<std::unique_ptr<ZmtpPeer>> peers;
  for (int k = 0; k < 24; ++k) peers.push_back(std::make_unique<ZmtpPeer>());
  {
    // Three may come, at two descriptors each; what is left then is for files.
    const testing_support::FewDescriptors few(descriptors_for_files + 6);
    for (const auto& peer : peers) peer->connect(door.control.port());
    EXPECT_TRUE(eventually([&] { return door.control.peers()->accepted - before == peers.size(); }));
    EXPECT_GE(door.control.peers()->refused_for(PeerRefusal::no_descriptors), 1u);
    EXPECT_TRUE(eventually([&] { return door.control.peers()->open <= 3; }));
    EXPECT_TRUE(eventually([] {
      try {
        require_descriptors(descriptors_for_files - 1, "recorder");
        return true;
      } catch (const RuntimeFault&) {  // until libzmq has closed those that were turned away
        return false;
      }
    }));
  }
  peers.clear();
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

TEST(ControlDoor, fault_ControlSaysThatDescriptorsAreTooFew) {
  const testing_support::FewDescriptors few(10);  // libzmq would end the program
  try {
    const Door door;
    FAIL() << "it opened";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr(" free file descriptors of "));
    EXPECT_THAT(fault.what(), HasSubstr("(ulimit -n)"));
  }
  EXPECT_THROW(static_cast<void>(ask_control("tcp://127.0.0.1:1", asking("get"), patience)), RuntimeFault);
}

TEST(ControlDoor, fault_ControlPeersThatAreTurnedAwayHaveALine) {
  const test::CapturedLog log;
  {
    Door door;
    ZmtpPeer endless(door.control.port(), "REQ");
    static_cast<void>(endless.try_send(repeated(ZmtpPeer::message("", true), 300'000)));
    endless.wait_for_end();
  }
  EXPECT_THAT(log.text(), HasSubstr("warning: live control: a peer from 127.0.0.1 was turned away: flooding"));
}

TEST(ControlDoor, fault_ControlClientOfManyMessagesIsNoFlood) {
  Door door;
  ZmtpPeer busy(door.control.port(), "REQ");
  // 200 KB in messages that are whole: more than may come between two of them. An answer says that those before it were taken.
  const std::string ask = ZmtpPeer::message("", true) + ZmtpPeer::message(asking("get").SerializeAsString());
  for (int k = 0; k < 40; ++k) {
    busy.send(repeated(ZmtpPeer::message(std::string(100, 'x')), 50) + ask);
    std::string answer;
    while (answer.empty() || answer.starts_with("\x04PING")) answer = busy.frame();
  }
  EXPECT_EQ(door.control.peers()->refused_for(PeerRefusal::flooding), 0u);
  EXPECT_EQ(door.echo.requests(), 40);
}

TEST(ControlDoor, fault_ControlClientsOfAnotherKindKeepNobodyOut) {
  Door door;
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
  // They are let in, and refused before they are connected: of that the socket's thread learns nothing.
  for (int k = 0; k < 12; ++k) {
    try {
      ZmtpPeer(door.control.port(), "SUB");
    } catch (const boost::system::system_error&) {  // refused
    }
  }
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
}

TEST(WaitingRequests, ClientsTakeTurns) {
  const auto from = [](std::string_view identity, std::string_view text) {
    ControlMessage message;
    message.emplace_back(identity);
    message.emplace_back(text);
    return message;
  };
  WaitingRequests waiting;
  for (const char* text : {"a1", "a2", "a3", "a4"}) {
    EXPECT_FALSE(waiting.full_for(from("a", text)));
    waiting.add(from("a", text));
  }
  EXPECT_TRUE(waiting.full_for(from("a", "a5")));
  EXPECT_FALSE(waiting.full_for(from("b", "b1")));
  waiting.add(from("b", "b1"));
  waiting.add(from("b", "b2"));
  std::string order;
  while (!waiting.empty()) order += waiting.next().back().to_string() + " ";
  EXPECT_EQ(order, "a1 b1 a2 b2 a3 a4 ");
  for (std::size_t k = 0; k < WaitingRequests::most; ++k) waiting.add(from(std::to_string(k), "x"));
  EXPECT_TRUE(waiting.full_for(from("new", "x")));
}

TEST(ControlDoor, OneRequestAtATimeAndTheOthersWait) {
  Door door;
  door.echo.hold(true);
  std::jthread slow([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("slow"), patience).reason(), "slow"); });
  ASSERT_TRUE(door.echo.wait_served(1));
  std::jthread other([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get"); });
  EXPECT_THROW(static_cast<void>(ask_control(door.control.endpoint(), asking("get"), 50ms)), RuntimeFault);
  EXPECT_EQ(door.echo.requests(), 1);
  door.echo.hold(false);
}

TEST(ControlDoor, WithKeysOnlyTheirClientsAreServed) {
  const CurvePair server = make_curve_pair();
  const CurvePair known = make_curve_pair();
  Door door(CurveServerKeys{server.secret_key, {known.public_key}});
  const auto ask = [&](const std::optional<CurveClientKeys>& keys, std::chrono::milliseconds limit) {
    return ask_control(door.control.endpoint(), asking("get"), limit, keys);
  };
  EXPECT_EQ(ask(CurveClientKeys{known, server.public_key}, patience).reason(), "get");
  EXPECT_THROW(static_cast<void>(ask(CurveClientKeys{make_curve_pair(), server.public_key}, 200ms)), RuntimeFault);
  EXPECT_THROW(static_cast<void>(ask(std::nullopt, 200ms)), RuntimeFault);
  EXPECT_EQ(door.echo.requests(), 1);
}

TEST(ControlDoor, PortInUseAndWrongEndpoints) {
  Door door;
  try {
    ZeromqControl second({.port = door.control.port()}, [](const auto&) { return wire::ControlReply(); });
    FAIL() << "the port is in use";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("live control: cannot listen on tcp://127.0.0.1:"));
  }
  EXPECT_THROW(static_cast<void>(ask_control("nowhere", asking("get"), 1s)), InputError);
  EXPECT_THROW(static_cast<void>(ask_control("tcp://127.0.0.1:1", asking("get"), 20ms)), RuntimeFault);
}

}  // namespace
}  // namespace echoform
