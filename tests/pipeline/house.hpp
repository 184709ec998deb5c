// A pipeline with a fake engine and a sink that notes what comes.
#pragma once

#include "tests/pipeline/support.hpp"

namespace echoform::test {

struct House {
  explicit House(PipelineOptions options = {}) : pipeline(options, bare_setup, {sink}, clock, fake_engines(control)) {}
  std::shared_ptr<FrameIntake> open(std::uint64_t session = 1, const Acquisition& acquisition = small_acquisition()) {
    return pipeline.open_stream(session, acquisition);
  }
  CounterSnapshot counters() {
    const CounterSnapshot snapshot = pipeline.counters();
    EXPECT_TRUE(snapshot.closes());
    return snapshot;
  }

  SystemClock clock;
  std::shared_ptr<EngineControl> control = std::make_shared<EngineControl>();
  std::shared_ptr<NotingSink> sink = std::make_shared<NotingSink>();
  Pipeline pipeline;
};

inline PipelineOptions with(DropPolicy policy, std::size_t slots = 4) {
  PipelineOptions options;
  options.policy = policy;
  options.slots = slots;
  return options;
}

}  // namespace echoform::test
