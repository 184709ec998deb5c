// A change of the imaging that cannot be is refused whole: the plan, the engine and the images stay, and no frame is lost.
#include "base/errors.hpp"
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;

class Reconfiguration : public OnBackends {};
ECHOFORM_ON_BACKENDS(Reconfiguration);

// The engine refuses what the plan allows, in mid-stream, with a frame half arrived.
TEST_P(Reconfiguration, InvalidIsRefusedWhole) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1) + shot_of(acquisition, 2, 0) + shot_of(acquisition, 2, 1));
  ASSERT_TRUE(bench.reaches([&] { return bench.album->size() == 1 && bench.books().frames.frames_in_flight == 1; }));
  const auto setup = bench.server->pipeline().setup();
  const std::size_t bytes = bench.server->pipeline().bytes();
  const std::size_t setups = bench.album->setups();
  bench.refusing_engines.set([](const ImagingSetup&) { throw InputError("grid", "too many pixels", "fewer"); });
  EXPECT_THROW(static_cast<void>(bench.server->pipeline().reconfigure()), InputError);
  bench.refusing_engines.set([](const ImagingSetup&) { throw RuntimeFault("no memory"); });
  EXPECT_THROW(static_cast<void>(bench.server->pipeline().reconfigure()), RuntimeFault);
  EXPECT_EQ(bench.server->pipeline().setup(), setup);
  EXPECT_EQ(bench.server->pipeline().bytes(), bytes);
  EXPECT_EQ(bench.album->setups(), setups);
  bench.send_and_wait(*peer, shot_of(acquisition, 2, 2) + shot_of(acquisition, 2, 3) + frame_message(acquisition, 3));
  // One that can be is taken, and makes the same images, as nothing else was asked for.
  bench.refusing_engines.set({});
  ASSERT_TRUE(bench.published(3));
  EXPECT_TRUE(bench.server->pipeline().reconfigure());
  EXPECT_EQ(bench.album->setups(), setups + 1);
  peer->send(frame_message(acquisition, 4) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 4, .published = 4, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 3, 4});
  bench.expect_good_sender();
}

// One wrong setting among right ones, over the door that an operator uses: none of them comes into force.
TEST_P(Reconfiguration, InvalidSettingsAreRefusedWhole) {
  ServerBench bench(GetParam());
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  bench.send_and_wait(*peer, frame_message(acquisition, 1) + shot_of(acquisition, 2, 0));
  ASSERT_TRUE(bench.reaches([&] { return bench.album->size() == 1 && bench.books().frames.frames_in_flight == 1; }));
  const auto setup = bench.server->pipeline().setup();
  const std::uint64_t revision = bench.server->control().revision();
  using Changes = std::vector<std::pair<const char*, const char*>>;
  for (const Changes& changes : {Changes{{"output.gain_db", "6"}, {"output.dynamic_range_db", "-5"}},
                                 Changes{{"grid.pixels", "[48, 40]"}, {"grid.z", "[5e-3, 1e-3]"}},
                                 Changes{{"material.longitudinal_velocity", "5000"}, {"imaging.views", "[\"TT\"]"}},
                                 Changes{{"input.drop_policy", "drop_newest"}, {"input.slots", "8"}},
                                 Changes{{"grid.pixels", "[32, 32]"}, {"grid.pixles", "[32, 32]"}}}) {
    wire::ControlRequest request;
    request.set_action("set");
    for (const auto& [key, value] : changes) {
      wire::KeyChange& change = *request.add_changes();
      change.set_key(key);
      change.set_value(value);
    }
    const wire::ControlReply reply = bench.server->control().handle(request);
    EXPECT_EQ(reply.outcome(), wire::REFUSED) << reply.reason();
    EXPECT_FALSE(reply.reason().empty());
    EXPECT_EQ(bench.server->control().revision(), revision);
    EXPECT_EQ(bench.server->pipeline().setup(), setup);
  }
  bench.send_and_wait(*peer, shot_of(acquisition, 2, 1) + shot_of(acquisition, 2, 2) + shot_of(acquisition, 2, 3) +
                                 frame_message(acquisition, 3) + end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 3, .published = 3, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 3});
  bench.expect_good_sender();
}

}  // namespace
}  // namespace echoform::faults
