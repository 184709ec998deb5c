// A whole pipeline whose GPU is lost in the middle of a frame: sender, workers and slots are waiting, and the process ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "gpu/completion.hpp"
#include "tests/pipeline/house.hpp"
#include "tests/support/end_late.hpp"

namespace echoform::gpu {
namespace {

using namespace std::chrono_literals;

class NeverReached final : public EventQuery {
 public:
  [[nodiscard]] bool reached(void* /*event*/, const char* /*stage*/) noexcept override { return false; }
};

/// Hands frames to a GPU that finishes none.
class StalledEngine final : public Engine {
 public:
  StalledEngine(std::shared_ptr<const ImagingSetup> setup, std::chrono::nanoseconds timeout)
      : setup_(std::move(setup)), completion_(std::make_unique<NeverReached>(), timeout, 8) {}
  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cuda; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return "stalled"; }
  void equip(FrameSlot& slot) override { slot.samples = test::make_buffer(setup_->acquisition.frame_bytes()); }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    done_ = &done;
    slot_ = &slot;
    const auto call = [](void* engine) noexcept {
      const auto* from = static_cast<StalledEngine*>(engine);
      (*from->done_)(*from->slot_, true);
    };
    completion_.watch(&slot, "beamform", call, this);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return 0; }

 private:
  std::shared_ptr<const ImagingSetup> setup_;
  const Done* done_ = nullptr;
  FrameSlot* slot_ = nullptr;
  CompletionThread completion_;
};

void image_on_a_stalled_gpu() {
  PipelineOptions options;
  options.slots = 2;
  options.backend.gpu_timeout = 300ms;
  const SystemClock clock;
  Pipeline pipeline(options, test::bare_setup, {}, clock,
                    [](std::shared_ptr<const ImagingSetup> setup, const BackendChoice& choice, const EngineOptions&) {
                      return std::unique_ptr<Engine>(std::make_unique<StalledEngine>(std::move(setup), choice.gpu_timeout));
                    });
  const auto intake = pipeline.open_stream(1, test::small_acquisition());
  if (pipeline.backend() != "stalled") _exit(4);
  const LaneId lane = intake->open_lane([] {});
  test::end_late();
  test::send_frame(*intake, lane, 0);
  test::send_frame(*intake, lane, 1);
  // Waits for frames in work, as an orderly end does.
  pipeline.stop();
  _exit(5);
}

TEST(PipelineFaultDeath, AStalledGpuEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(image_on_a_stalled_gpu(), testing::ExitedWithCode(1),
              "^echoform: GPU fault: no answer from the GPU for [0-9]+\\.[0-9] s \\(stage beamform\\)\n$");
}

}  // namespace
}  // namespace echoform::gpu
