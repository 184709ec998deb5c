// A sender whose stream cannot be opened takes nothing from the one before, and a plan that cannot be is refused whole.
#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "delay_laws/delay_law.hpp"
#include "methods/tfm/section.hpp"
#include "tests/faults/server_bench.hpp"

namespace echoform::faults {
namespace {

using namespace testing_support;
using testing::HasSubstr;

class Takeover : public OnBackends {};
ECHOFORM_ON_BACKENDS(Takeover);

/// Refused, counted once, and the server has what it had.
void expect_refused(ServerBench& bench, const Acquisition& acquisition, const std::string& reason) {
  ASSERT_TRUE(bench.reaches([&] { return bench.server->source().counters().connections_open == 0; }));
  const Books before = bench.books();
  const auto setup = bench.server->pipeline().setup();
  const std::size_t bytes = bench.server->pipeline().bytes();
  RawPeer peer(bench.port());
  peer.send(hello_message(acquisition));
  EXPECT_THAT(peer.reject_reason(), HasSubstr(reason));
  EXPECT_TRUE(peer.closed());
  bench.expect_change(before, {.rejected = 1});
  EXPECT_EQ(bench.server->pipeline().setup(), setup);
  EXPECT_EQ(bench.server->pipeline().bytes(), bytes);
}

TEST_P(Takeover, RefusedPlan) {
  Configuration configuration = base_configuration(GetParam());
  configuration.imaging.memory_limit = 1e7;
  ServerBench bench(configuration);
  bench.expect_good_sender(base_acquisition(), 1);
  expect_refused(bench, make_acquisition(128, 4096), "24 x 20 pixels with 128 elements and 1 view, which need");
  bench.expect_good_sender();
  EXPECT_EQ(bench.engines_made, 1);
}

// What the plan cannot tell, the engine does while it makes its tables.
TEST_P(Takeover, RefusedByTheEngine) {
  ServerBench bench(GetParam());
  bench.expect_good_sender(base_acquisition(), 1);
  Acquisition far = base_acquisition();
  far.start_time = Seconds(0.5);
  far.sample_rate = Hertz(1e12);
  expect_refused(bench, far, "samples away from the first one of an A-scan");
  bench.expect_good_sender();
}

TEST_P(Takeover, FailingEngine) {
  ServerBench bench(GetParam());
  bench.expect_good_sender(base_acquisition(), 1);
  bench.refusing_engines.set([](const ImagingSetup& setup) {
    if (setup.acquisition.samples == 120) throw RuntimeFault("no memory for it");
  });
  expect_refused(bench, make_acquisition(4, 120), "the server could not open the stream");
  const int made = bench.engines_made;
  bench.expect_good_sender();
  EXPECT_EQ(bench.engines_made, made) << "the engine of before should have been there still";
}

// Where memory does not allow two engines, the one of before goes first; it comes back if the new one fails.
TEST_P(Takeover, FailingEngineWhereMemoryIsShort) {
  Configuration configuration = base_configuration(GetParam());
  configuration.imaging.memory_limit = 1.5e6;  // one engine of this size needs about 1.2 MB
  configuration.grid.pixels = {40, 40};
  ServerBench bench(configuration);
  bench.expect_good_sender(base_acquisition(), 1);
  bench.refusing_engines.set([](const ImagingSetup& setup) {
    if (setup.acquisition.samples == 120) throw RuntimeFault("no memory for it");
  });
  expect_refused(bench, make_acquisition(4, 120), "the server could not open the stream");
  bench.refusing_engines.set({});
  bench.expect_good_sender();
  // And the new one is taken where it does not fail.
  bench.expect_good_sender(make_acquisition(4, 120), 701);
}

TEST_P(Takeover, AnotherAcquisition) {
  ServerBench bench(GetParam());
  for (const std::size_t samples : {96, 120, 96, 200}) bench.expect_good_sender(make_acquisition(4, samples), samples);
  bench.expect_good_sender(base_acquisition(SampleEncoding::float32, MatrixKind::half), 900);
  bench.expect_good_sender(base_acquisition(SampleEncoding::packed12, MatrixKind::half_summed), 950);
}

/// A leg that throws what nobody expects of it, on whichever thread asks.
class ThrowingLeg final : public Leg {
 public:
  explicit ThrowingLeg(std::size_t sources) : sources_(sources) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return sources_; }
  void travel_times(std::size_t source, std::span<const Point>, std::span<double> seconds) const override {
    if (source == sources_ - 1) throw std::runtime_error("a law that throws");
    std::fill(seconds.begin(), seconds.end(), 1e-6);
  }

 private:
  std::size_t sources_;
};

TEST_P(Takeover, DelayLawThatThrows) {
  static const bool added = [] {
    add_delay_law("throwing", [](const DelayLawRequest& request) {
      const auto leg = std::make_shared<ThrowingLeg>(request.acquisition.elements());
      return DelayLaw{request.view, leg, leg};
    });
    return true;
  }();
  ASSERT_TRUE(added);
  // With the gate the threads that look for its bounds ask first, without it those that make the tables.
  for (const CropWish crop : {CropWish::live, CropWish::never}) {
    Configuration configuration = base_configuration(GetParam());
    tfm(configuration).delay_law = "throwing";
    tfm(configuration).crop = crop;
    ServerBench bench(configuration);
    expect_refused(bench, base_acquisition(), "the server could not open the stream");
    expect_refused(bench, base_acquisition(), "the server could not open the stream");
  }
}

}  // namespace
}  // namespace echoform::faults
