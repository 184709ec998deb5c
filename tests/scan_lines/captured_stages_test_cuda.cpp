// Stages of scan lines on CUDA as engines use them: captured once in a graph, changed between its launches; and without memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/errors.hpp"
#include "gpu/memory_calls.hpp"
#include "gpu/stream_queue.hpp"
#include "stages/demodulation/demodulation.hpp"
#include "stages/flow/flow.hpp"
#include "stages/line_blend/line_blend.hpp"
#include "stages/line_compound/line_compound.hpp"
#include "stages/line_gain/line_gain.hpp"
#include "stages/line_spectrum/line_spectrum.hpp"
#include "stages/persistence/persistence.hpp"
#include "stages/scroll/scroll.hpp"
#include "stages/time_gain/time_gain.hpp"
#include "tests/stages/capture.hpp"
#include "tests/stages/raw_frames.hpp"
#include "tests/stages/stage_harness.hpp"

namespace echoform::test {
namespace {

class CapturedStages : public testing::Test {
 protected:
  void SetUp() override {
    ECHOFORM_REQUIRE_GPU();
    backend_ = make_cuda_backend();
    queue_ = backend_->make_queue();
  }
  void TearDown() override { gpu::memory_calls() = gpu::MemoryCalls{}; }

  /// A stage, its blocks and its launches in a graph.
  struct Captured {
    std::unique_ptr<Stage> stage;
    Buffer in;
    Buffer out;
    gpu::GraphExec graph;
  };
  [[nodiscard]] Captured capture(const StageKind& kind, const StageOptions& options, const BlockSpec& spec) {
    Captured one;
    one.stage = make_stage(kind, options, *backend_);
    one.out = backend_->allocate(one.stage->prepare(spec).bytes(), MemoryUse::working);
    one.in = backend_->allocate(spec.bytes(), MemoryUse::working);
    one.graph = captured(*one.stage, {one.in.data()}, {one.out.data()}, *queue_);
    return one;
  }
  [[nodiscard]] std::vector<float> launch(const Captured& one, const TestBlock& input) {
    copy_now(one.in.data(), input.read().data, input.bytes());
    ECHOFORM_CUDA(cudaGraphLaunch(one.graph.get(), gpu::stream_of(*queue_)));
    queue_->finish();
    std::vector<float> numbers(one.out.size() / sizeof(float));
    copy_now(numbers.data(), one.out.data(), numbers.size() * sizeof(float));
    return numbers;
  }
  static TestBlock filled(const BlockSpec& spec, float value) {
    TestBlock block(spec);
    std::fill_n(block.as<float>(), spec.bytes() / sizeof(float), value);
    return block;
  }
  static DemodulationOptions demodulation() {
    DemodulationOptions options;
    options.frequency = Hertz(5e6);
    options.sample_rate = Hertz(40e6);
    options.decimation = 4;
    options.pass = Hertz(2.5e6);
    options.stop = Hertz(5e6);
    return options;
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ExecutionQueue> queue_;
};

std::shared_ptr<const std::vector<float>> steady_gain(std::size_t samples, float gain) {
  return std::make_shared<const std::vector<float>>(samples, gain);
}

TEST_F(CapturedStages, FollowAnotherTimeGain) {
  const BlockSpec spec = make_spec(ElementType::float32, 3, 1600);
  const Captured one = capture(time_gain_stage, TimeGainOptions{steady_gain(1600, 2.0F)}, spec);
  const TestBlock input = filled(spec, 3.0F);
  EXPECT_THAT(launch(one, input), testing::Each(6.0F));
  one.stage->retune(TimeGainOptions{steady_gain(1600, 0.5F)}, *queue_);
  EXPECT_THAT(launch(one, input), testing::Each(1.5F));
}

TEST_F(CapturedStages, FollowAnotherGainOfLines) {
  const BlockSpec spec = make_spec(ElementType::float32, 3, 1600);
  const Captured one = capture(line_gain_stage, LineGainOptions{steady_gain(3, 2.0F)}, spec);
  const TestBlock input = filled(spec, 3.0F);
  EXPECT_THAT(launch(one, input), testing::Each(6.0F));
  one.stage->retune(LineGainOptions{steady_gain(3, 0.5F)}, *queue_);
  EXPECT_THAT(launch(one, input), testing::Each(1.5F));
}

TEST_F(CapturedStages, CompoundOrShowOneAngle) {
  const BlockSpec spec = make_spec(ElementType::float32, 4, 64);
  LineCompoundOptions options;
  options.sets.assign(2, {0, 2, Metres(0.0), Metres(0.0), Metres(1e-3), 0.0});
  options.sets[1].first_row = 2;
  options.ranges = {Metres(1e-3), Metres(1e-4), 64};
  const Captured one = capture(line_compound_stage, options, spec);
  const TestBlock input = filled(spec, 1.0F);
  std::fill_n(input.as<float>() + 2 * 64, 2 * 64, 3.0F);
  EXPECT_THAT(launch(one, input), testing::Each(2.0F));
  options.all = false;
  one.stage->retune(options, *queue_);
  EXPECT_THAT(launch(one, input), testing::Each(1.0F));
  options.all = true;
  one.stage->retune(options, *queue_);
  EXPECT_THAT(launch(one, input), testing::Each(2.0F));
}

TEST_F(CapturedStages, FollowAnotherThresholdOfFlow) {
  const BlockSpec spec = make_spec(ElementType::float32, 6, 32);
  const Captured one = capture(flow_stage, FlowOptions{FlowKind::variance, MetresPerSecond(1.0), 0.5}, spec);
  // R0 of 1 and of 0.25, nothing coherent.
  const TestBlock input = filled(spec, 0.0F);
  std::fill_n(input.as<float>(), 32, 1.0F);
  std::fill_n(input.as<float>() + 3 * 32, 32, 0.25F);
  const auto faint = [&] { return launch(one, input).back(); };
  EXPECT_EQ(faint(), 0.0F);
  one.stage->retune(FlowOptions{FlowKind::variance, MetresPerSecond(1.0), 0.25}, *queue_);
  EXPECT_GT(faint(), 0.0F);
  one.stage->retune(FlowOptions{FlowKind::variance, MetresPerSecond(1.0), 0.75}, *queue_);
  EXPECT_EQ(faint(), 0.0F);
}

TEST_F(CapturedStages, FollowAnotherShareAndABeginning) {
  const BlockSpec spec = make_spec(ElementType::float32, 4, 32);
  const Captured one = capture(persistence_stage, PersistenceOptions{0.5}, spec);
  const TestBlock bright = filled(spec, 8.0F);
  const TestBlock dark = filled(spec, 0.0F);
  EXPECT_THAT(launch(one, bright), testing::Each(8.0F));
  EXPECT_THAT(launch(one, dark), testing::Each(4.0F));
  one.stage->retune(PersistenceOptions{0.25}, *queue_);
  EXPECT_THAT(launch(one, dark), testing::Each(1.0F));
  one.stage->restart(*queue_);
  EXPECT_THAT(launch(one, bright), testing::Each(8.0F));
  EXPECT_THAT(launch(one, dark), testing::Each(2.0F));
}

TEST_F(CapturedStages, ScrollAndBeginAgain) {
  const BlockSpec spec = make_spec(ElementType::float32, 2, 32);
  const Captured one = capture(scroll_stage, ScrollOptions{0, 1, 3}, spec);
  const TestBlock input = filled(spec, 1.0F);
  std::fill_n(input.as<float>() + 32, 32, 2.0F);
  // The first number of each row, the oldest first.
  const auto shown = [&] {
    const std::vector<float> all = launch(one, input);
    return std::vector<float>{all[0], all[32], all[64]};
  };
  one.stage->restart(*queue_);
  EXPECT_EQ(shown(), (std::vector<float>{0.0F, 0.0F, 1.0F}));
  one.stage->retune(ScrollOptions{1, 1, 3}, *queue_);
  EXPECT_EQ(shown(), (std::vector<float>{0.0F, 1.0F, 2.0F}));
  EXPECT_EQ(shown(), (std::vector<float>{1.0F, 2.0F, 2.0F}));
  EXPECT_EQ(shown(), (std::vector<float>{2.0F, 2.0F, 2.0F}));
  one.stage->restart(*queue_);
  EXPECT_EQ(shown(), (std::vector<float>{0.0F, 0.0F, 2.0F}));
}

TEST_F(CapturedStages, FollowAnotherGateOfSpectra) {
  const BlockSpec spec = make_spec(ElementType::complex64, 8, 32);
  LineSpectrumOptions options;
  options.ensemble = 4;
  options.samples = 4;
  options.bins = 4;
  options.ranges = 32;
  const Captured one = capture(line_spectrum_stage, options, spec);
  // The second line is three times the first; both stand still, which is bin 2 of 4.
  const TestBlock input = filled(spec, 1.0F);
  std::fill_n(input.as<float>() + 4 * 64, 4 * 64, 3.0F);
  EXPECT_NEAR(launch(one, input)[2], std::sqrt(2.0), 1e-6);
  options.line = 1;
  options.first_range = 30;
  options.ranges = 2;
  one.stage->retune(options, *queue_);
  const std::vector<float> moved = launch(one, input);
  EXPECT_NEAR(moved[2], 3.0 * std::sqrt(2.0), 3e-6);
  EXPECT_NEAR(moved[0], 0.0, 1e-6);
}

TEST_F(CapturedStages, FollowAnotherGainOfReceivedSamples) {
  const RawFrame frame = make_raw_frame(SampleEncoding::int16, 5, 1600, 0, 3);
  DemodulationOptions options = demodulation();
  options.time_gain = steady_gain(1600, 1.0F);
  const Captured one = capture(demodulation_stage, options, frame.spec);
  const std::size_t facts = 64 / sizeof(float);  // behind the numbers
  std::vector<float> before = launch(one, *frame.block);
  EXPECT_EQ(one.stage->facts().quality.value().clipped, frame.clipped);
  options.time_gain = steady_gain(1600, 4.0F);
  one.stage->retune(options, *queue_);
  std::vector<float> after = launch(one, *frame.block);
  EXPECT_EQ(one.stage->facts().quality.value().clipped, frame.clipped);
  before.resize(before.size() - facts);
  after.resize(after.size() - facts);
  for (float& number : before) number *= 4.0F;  // a power of two: exact
  EXPECT_EQ(after, before);
}

cudaError_t no_device_memory(void** /*data*/, std::size_t /*bytes*/) {
  return cudaErrorMemoryAllocation;
}

TEST_F(CapturedStages, SayWhatMemoryTheyMiss) {
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = 64;
  table->weights.assign(64, 1.0F);
  table->lines = {{{0, 0}}};
  DemodulationOptions raw = demodulation();
  raw.time_gain = steady_gain(64, 1.0F);
  const BlockSpec rows = make_spec(ElementType::float32, 4, 64);
  const struct {
    const StageKind& kind;
    StageOptions options;
    BlockSpec spec;
  } cases[] = {{time_gain_stage, TimeGainOptions{raw.time_gain}, rows},
               {persistence_stage, PersistenceOptions{0.5}, rows},
               {scroll_stage, ScrollOptions{0, 1, 9}, rows},
               {line_blend_stage, LineBlendOptions{table}, rows},
               {line_gain_stage, LineGainOptions{steady_gain(4, 1.0F)}, rows},
               {demodulation_stage, demodulation(), rows},
               {demodulation_stage, raw, make_raw_spec(SampleEncoding::int16, 4, 64)}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.kind.name);
    const auto stage = make_stage(one.kind, one.options, *backend_);
    gpu::memory_calls().device_alloc = no_device_memory;
    try {
      static_cast<void>(stage->prepare(one.spec));
      ADD_FAILURE() << "refused memory was given";
    } catch (const RuntimeFault& fault) {
      EXPECT_THAT(fault.what(), testing::HasSubstr("no device memory (out of memory)"));
    }
    // Once there is some, the same stage serves.
    gpu::memory_calls() = gpu::MemoryCalls{};
    EXPECT_GT(stage->prepare(one.spec).bytes(), 0U);
  }
}

}  // namespace
}  // namespace echoform::test
