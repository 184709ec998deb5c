// What the machine does to the server: ports that are taken, a wall clock that is set.
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/errors.hpp"
#include "tests/faults/server_bench.hpp"
#include "transport/publish/subscriber.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;
using testing::HasSubstr;

class PortInUse : public OnBackends {
 protected:
  /// Why a second server cannot start with one of its ports being another's.
  static std::string fault_with(const Configuration& configuration) {
    try {
      ServerBench second(configuration);
    } catch (const RuntimeFault& fault) {
      return fault.what();
    }
    return "started";
  }
};
ECHOFORM_ON_BACKENDS(PortInUse);

TEST_P(PortInUse, OfEveryDoor) {
  ServerBench first(GetParam());
  const Acquisition acquisition = base_acquisition();
  GoodSender good(first, acquisition);
  good.send(1, 2);
  const auto address = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };

  Configuration frames = base_configuration(GetParam());
  frames.input.listen = address(first.port());
  EXPECT_EQ(fault_with(frames), "cannot listen for acquisition on " + frames.input.listen + ": Address already in use");

  Configuration images = base_configuration(GetParam());
  images.server.images = first.server->sink<ZeromqSink>().endpoint().substr(std::string("tcp://").size());
  EXPECT_THAT(fault_with(images), HasSubstr("image publisher: cannot listen on tcp://" + images.server.images +
                                            ": the port is in use; choose another or stop the program that holds it"));

  Configuration web = base_configuration(GetParam());
  web.server.web = address(first.server->sink<WebSink>().port());
  EXPECT_THAT(fault_with(web), HasSubstr("web server: cannot listen on http://" + web.server.web + "/: the port is in use"));

  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor other(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
  Configuration telemetry = base_configuration(GetParam());
  telemetry.server.telemetry = address(other.local_endpoint().port());
  EXPECT_THAT(fault_with(telemetry), HasSubstr("cannot listen on tcp://" + telemetry.server.telemetry + ": the port is in use"));

  good.send(3, 2);
  good.finish();
  first.expect_change({}, {.received = 4, .published = 4, .accepted = 1});
  first.expect_images(acquisition, {1, 2, 3, 4});
}

class WallClock : public OnBackends {};
ECHOFORM_ON_BACKENDS(WallClock);

// Only the times that images state follow the wall clock; frames, connections and latencies go by the other one.
TEST_P(WallClock, Steps) {
  Configuration configuration = base_configuration(GetParam());
  configuration.input.idle_timeout = Seconds(30.0);
  ServerBench bench(configuration);
  const Acquisition acquisition = base_acquisition();
  const Books before = bench.books();
  const auto peer = bench.accepted_peer(acquisition);
  std::vector<WallTime> times;
  std::uint64_t sequence = 0;
  for (const std::chrono::nanoseconds step :
       {0ns, std::chrono::nanoseconds(-1h), std::chrono::nanoseconds(24h * 365), std::chrono::nanoseconds(-24h * 365)}) {
    ++sequence;
    // In mid-frame, and in mid-message.
    const Bytes frame = frame_message(acquisition, sequence);
    const auto middle = frame.begin() + static_cast<std::ptrdiff_t>(frame.size() / 3);
    bench.send_and_wait(*peer, {frame.begin(), middle});
    bench.clock.step_wall(step);
    bench.send_and_wait(*peer, {middle, frame.end()});
    ASSERT_TRUE(bench.published(sequence));
    times.push_back(bench.clock.wall());
  }
  peer->send(end_message());
  EXPECT_TRUE(peer->closed());
  bench.expect_change(before, {.received = 4, .published = 4, .accepted = 1});
  bench.expect_images(acquisition, {1, 2, 3, 4});
  const auto images = bench.album->images();
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(images[i].publish_time, times[i]);
  for (const DistributionSnapshot& distribution : bench.server->pipeline().metrics().distributions) {
    if (distribution.stage.empty()) {
      EXPECT_EQ(distribution.total_maximum.count(), 0) << distribution.name;
    }
  }
  bench.expect_good_sender();
}

}  // namespace
}  // namespace echoform::faults
