// The control door: REQ clients of every kind, good and bad, and a door that serves on.
#include "transport/control/zeromq_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "pipeline/errors.hpp"
#include "tests/support/patience.hpp"
#include "transport/zeromq/socket.hpp"

namespace echoform {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

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
  EXPECT_EQ(door.echo.served, 1);
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
  EXPECT_EQ(door.echo.served, 1);
}

TEST(ControlDoor, fault_ControlMessageThatIsTooLong) {
  Door door;
  zmq::context_t context;
  zmq::socket_t socket = client(context, door, zmq::socket_type::dealer);
  send(socket, "", zmq::send_flags::sndmore);
  send(socket, std::string(100'000, 'x'));
  // The sender is cut off; whoever keeps to the limit is served.
  EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get");
  EXPECT_EQ(door.echo.served, 1);
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

TEST(ControlDoor, OneRequestAtATimeAndTheOthersWait) {
  Door door;
  door.echo.hold(true);
  std::jthread slow([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("slow"), patience).reason(), "slow"); });
  ASSERT_TRUE(door.echo.wait_served(1));
  std::jthread other([&] { EXPECT_EQ(ask_control(door.control.endpoint(), asking("get"), patience).reason(), "get"); });
  EXPECT_THROW(static_cast<void>(ask_control(door.control.endpoint(), asking("get"), 50ms)), RuntimeFault);
  EXPECT_EQ(door.echo.served, 1);
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
  EXPECT_EQ(door.echo.served, 1);
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
