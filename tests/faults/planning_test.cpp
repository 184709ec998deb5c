// A server that is told to stop while it plans what a Hello asks for, and Hellos that ask for too much.
#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "methods/filter_settings.hpp"
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// Of 1,048,573 samples, a prime: planning its transform took half a minute of measuring.
Configuration roomy() {
  Configuration configuration = base_configuration(BackendKind::cpu);
  configuration.input.max_samples = std::size_t{1} << 20;
  return configuration;
}

TEST(Planning, EndsWhenTheServerStops) {
  ServerBench bench(roomy());
  std::atomic<bool> begun{false};
  bench.refusing_engines.set([&](const ImagingSetup& setup) {
    EXPECT_EQ(setup.acquisition.samples, 1'048'573U);
    begun = true;
    for (;;) keep_planning();
  });
  RawPeer peer(bench.port());
  peer.send(hello_message(make_acquisition(2, 1'048'573)));
  ASSERT_TRUE(bench.reaches([&] { return begun.load(); }));
  bench.server->stop();
  EXPECT_EQ(bench.engines_made, 0);
  EXPECT_EQ(bench.server->pipeline().setup(), nullptr);
}

TEST(Planning, HasALimitThatIsSaidToTheSender) {
  Configuration configuration = roomy();
  configuration.input.planning_timeout = Seconds(0.01);
  ServerBench bench(configuration);
  bench.refusing_engines.set([](const ImagingSetup& setup) {
    if (setup.acquisition.samples == 1'048'573U) {
      for (;;) keep_planning();
    }
  });
  const Books before = bench.books();
  RawPeer peer(bench.port());
  peer.send(hello_message(make_acquisition(2, 1'048'573)));
  EXPECT_THAT(peer.reject_reason(), HasSubstr("planning: found tables and transforms that take longer than 0.01 s"));
  EXPECT_TRUE(peer.closed());
  bench.expect_change(before, {.rejected = 1});
}

// Refused before anything is planned: the workspaces of the threads' transforms count.
TEST(Planning, WorkspacesOfTransformsCountAsMemory) {
  Configuration configuration = roomy();
  configuration.imaging.threads = 64;
  configuration.imaging.memory_limit = 1.2e9;                     // 64 workspaces of 25 MB are more
  section<FilterSection>(configuration).kind = FilterWish::none;  // whose factors would need more
  ServerBench bench(configuration);
  RawPeer peer(bench.port());
  peer.send(hello_message(make_acquisition(2, 1'048'573)));
  EXPECT_THAT(peer.reject_reason(), HasSubstr("24 x 20 pixels with 2 elements and 1 view, which need 1.8"));
  EXPECT_EQ(bench.engines_made, 0);
}

}  // namespace
}  // namespace echoform::faults
