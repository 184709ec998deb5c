// The clients of an attack are what a door must bear: they come, say too much, go, and leave nothing behind.
#include "apps/soak/attack.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/patience.hpp"
#include "transport/control/zeromq_control.hpp"
#include "transport/publish/zeromq_sink.hpp"

namespace echoform::soak {
namespace {

template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + echoform::patience;
  while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST(Attack, OfSubscriptionsIsCutOff) {
  const auto sink = make_zeromq_sink({.port = 0});
  {
    const Attack attack(AttackKind::subscriptions, sink->endpoint(), 4, 1);
    EXPECT_TRUE(eventually([&] { return sink->peers().refused_for(PeerRefusal::flooding) >= 4; }));
    EXPECT_GT(attack.connections(), 4U);
  }
  EXPECT_TRUE(eventually([&] { return sink->peers().open == 0; }));
}

TEST(Attack, OfRequestsIsCutOffAndOthersAreServed) {
  ZeromqControl control({.port = 0}, [](const auto&) {
    wire::ControlReply reply;
    reply.set_outcome(wire::DONE);
    return reply;
  });
  {
    const Attack attack(AttackKind::requests, control.endpoint(), 4, 1);
    EXPECT_TRUE(eventually([&] { return control.peers()->refused_for(PeerRefusal::flooding) >= 4; }));
    EXPECT_GT(attack.connections(), 4U);
  }
  EXPECT_EQ(ask_control(control.endpoint(), {}, echoform::patience).outcome(), wire::DONE);
  EXPECT_TRUE(eventually([&] { return control.peers()->open == 0; }));
}

}  // namespace
}  // namespace echoform::soak
