// The whole of it: simulated frames over loopback TCP into the pipeline with the real engine. In steady state nothing in the
// process takes memory from the heap, from a frame's first byte to its finished image, whoever the thread; and memory is
// what it was said to be.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "acquisition/words.hpp"
#include "delay_laws/delay_law.hpp"
#include "gpu/memory_report.hpp"
#include "methods/tfm/setup.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/words.hpp"
#include "simulators/frame_cycle.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/require_gpu.hpp"
#include "transport/acquisition/sender.hpp"
#include "transport/acquisition/tcp_source.hpp"

namespace echoform {
namespace {

/// Counts finished images and lets a test wait for them.
class CountingSink final : public ImageSink {
 public:
  void setup_changed(std::shared_ptr<const ImagingSetup>) override {}
  void publish(const FinishedFrame& frame) noexcept override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(frame.counters.closes());
    ++count_;
    changed_.notify_all();
  }
  [[nodiscard]] std::string describe() const override { return "counting"; }
  void wait_for(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

SimulatorConfiguration small_source(SampleEncoding encoding, MatrixKind matrix) {
  SimulatorConfiguration source = demo_simulator(1);
  source.elements = 16;
  source.samples = 1024;
  source.encoding = encoding;
  source.matrix = matrix;
  source.cycle_frames = 4;
  return source;
}

std::shared_ptr<const ImagingSetup> setup_of(const Acquisition& acquisition, const std::vector<std::string>& views,
                                             double accuracy) {
  auto plan = std::make_shared<ImagingPlan>();
  plan->acquisition = acquisition;
  plan->accuracy = accuracy;
  plan->material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)};
  plan->grid = demo_grid(64, 64);
  plan->display_grid = demo_grid(100, 110);
  for (const auto& view : views) plan->laws.push_back(make_delay_law("contact", {acquisition, plan->material, view}));
  return make_imaging_setup(std::move(plan));
}

struct Case {
  BackendKind backend;
  double accuracy;
  SampleEncoding encoding;
  MatrixKind matrix;
  std::size_t connections;
  std::vector<std::string> views;
};

class SteadyState : public testing::TestWithParam<Case> {};

TEST_P(SteadyState, TakesNothingFromTheHeap) {
  if (!test::counts_allocations()) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const Case& kind = GetParam();
  const bool cuda = kind.backend == BackendKind::cuda;
  if (cuda) ECHOFORM_REQUIRE_GPU();
  const SystemClock clock;
  const auto sink = std::make_shared<CountingSink>();
  FrameCycle cycle(small_source(kind.encoding, kind.matrix));
  PipelineOptions options;
  options.backend = {.automatic = false, .kind = kind.backend, .threads = 2};
  Pipeline pipeline(
      options, [&](const Acquisition& acquisition) { return setup_of(acquisition, kind.views, kind.accuracy); }, {sink}, clock);
  TcpSourceOptions source_options;
  source_options.port = 0;
  const auto source = make_tcp_source(source_options);
  source->start(pipeline);
  SenderOptions sender_options;
  sender_options.port = source->port();
  sender_options.connections = kind.connections;
  AcquisitionSender sender(cycle.acquisition(), sender_options);

  constexpr std::uint64_t warm = 50;
  constexpr std::uint64_t counted = 300;
  std::uint64_t sequence = 0;
  for (; sequence < warm; ++sequence)
    sender.send_frame({sequence, clock.wall(), -static_cast<EncoderCount>(sequence)}, cycle.frame(sequence));
  sink->wait_for(warm);
  const std::size_t bytes_before = pipeline.bytes();
  const std::size_t device_before = cuda ? device_memory(0).free : 0;
  const std::uint64_t driver_before = test::driver_allocations();
  const std::uint64_t allocations_before = test::allocations();
  for (; sequence < warm + counted; ++sequence)
    sender.send_frame({sequence, clock.wall(), -static_cast<EncoderCount>(sequence)}, cycle.frame(sequence));
  sink->wait_for(warm + counted);
  EXPECT_EQ(test::allocations() - allocations_before, 0U);
  // The driver's threads take some now and then, but not because a frame came.
  EXPECT_LT(test::driver_allocations() - driver_before, counted / 10);
  EXPECT_EQ(pipeline.bytes(), bytes_before);
  if (cuda) {
    EXPECT_EQ(device_memory(0).free, device_before);
  }

  sender.finish();
  source->stop();
  pipeline.stop();
  const CounterSnapshot counters = pipeline.counters();
  EXPECT_EQ(counters.frames_received, warm + counted);
  EXPECT_EQ(counters.frames_published, warm + counted);
  EXPECT_EQ(counters.dropped(), 0U);
  EXPECT_TRUE(counters.closes());
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](BackendKind backend, double accuracy) {
    all.push_back({backend, accuracy, SampleEncoding::int16, MatrixKind::full, 1, {"LL"}});
    all.push_back({backend, accuracy, SampleEncoding::packed12, MatrixKind::half, 4, {"LL", "LT"}});
    all.push_back({backend, accuracy, SampleEncoding::float32, MatrixKind::half_summed, 2, {"LL", "TT"}});
  };
  add(BackendKind::cpu, 1e-3);
  // Always in the list, so that a missing GPU, or a build without its code, is seen as a skip.
  add(BackendKind::cuda, 1e-4);
  add(BackendKind::cuda, 1e-3);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SteadyState, testing::ValuesIn(cases()), [](const auto& kind) {
  return std::string(words::backend_kind.of(kind.param.backend)) +
         (kind.param.backend == BackendKind::cpu ? "_"
          : kind.param.accuracy < 1e-3           ? "_float_"
                                                 : "_half_") +
         std::string(words::sample_encoding.of(kind.param.encoding)) + "_" +
         std::string(words::matrix_kind.of(kind.param.matrix));
});

}  // namespace
}  // namespace echoform
