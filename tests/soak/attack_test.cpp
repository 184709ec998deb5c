// The clients of an attack are what a door must bear: they come, say too much, go, and leave nothing behind.
#include "apps/soak/attack.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/eventually.hpp"
#include "tests/support/patience.hpp"
#include "transport/control/zeromq_control.hpp"
#include "transport/publish/zeromq_sink.hpp"

namespace echoform::soak {
namespace {

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
