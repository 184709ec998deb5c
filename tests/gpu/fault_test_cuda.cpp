// A GPU that is lost ends the process: with code 1, one line, and soon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "gpu/completion.hpp"
#include "gpu/stream_queue.hpp"
#include "tests/gpu/faulty_kernels.hpp"
#include "tests/support/end_late.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform::gpu {
namespace {

using namespace std::chrono_literals;

class GpuFaultDeath : public testing::Test {
 protected:
  void SetUp() override {
    ECHOFORM_REQUIRE_GPU();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

void watch_until_done(void (*launch)(cudaStream_t)) {
  const Stream stream = make_stream();
  const Event event = make_event();
  const auto completion = make_completion_thread(0, 5s, 4);
  test::end_late();
  launch(stream.get());
  ECHOFORM_CUDA_QUEUED(cudaEventRecord(event.get(), stream.get()));
  completion->watch(event.get(), "beamform");
  completion->finish();
}

TEST_F(GpuFaultDeath, AWriteOutOfBoundsIsFoundByTheCompletionThread) {
  EXPECT_EXIT(watch_until_done(&test::launch_out_of_bounds), testing::ExitedWithCode(1),
              "echoform: GPU fault: .*an illegal memory access was encountered \\(cudaErrorIllegalAddress\\)\n$");
}

TEST_F(GpuFaultDeath, ATrapIsFoundByTheCompletionThread) {
  EXPECT_EXIT(watch_until_done(&test::launch_trap), testing::ExitedWithCode(1),
              "echoform: GPU fault: .*\\((cudaErrorLaunchFailure|cudaErrorIllegalInstruction)\\)\n$");
}

TEST_F(GpuFaultDeath, AFaultIsFoundByWhoWaitsForTheQueue) {
  EXPECT_EXIT(
      {
        StreamQueue queue;
        test::end_late();
        test::launch_out_of_bounds(queue.stream());
        queue.finish();
      },
      testing::ExitedWithCode(1), "echoform: GPU fault: gpu/stream_queue.hpp:.*\\(cudaErrorIllegalAddress\\)\n$");
}

TEST_F(GpuFaultDeath, AStreamThatStallsIsGivenUp) {
  EXPECT_EXIT(
      {
        const Stream stream = make_stream();
        const Event event = make_event();
        const auto completion = make_completion_thread(0, 300ms, 4);
        test::end_late();
        test::launch_spin(stream.get(), 10'000'000'000ULL);
        ECHOFORM_CUDA_QUEUED(cudaEventRecord(event.get(), stream.get()));
        completion->watch(event.get(), "analytic-signal");
        completion->finish();
      },
      testing::ExitedWithCode(1),
      "^echoform: GPU fault: no answer from the GPU for [0-9]+\\.[0-9] s \\(stage analytic-signal\\)\n$");
}

TEST_F(GpuFaultDeath, AStreamThatIsSlowIsNotGivenUp) {
  const Stream stream = make_stream();
  const Event event = make_event();
  const auto completion = make_completion_thread(0, 1000ms, 4);
  bool called = false;
  for (int k = 0; k < 4; ++k) {
    test::launch_spin(stream.get(), 400'000'000ULL);
    ECHOFORM_CUDA(cudaEventRecord(event.get(), stream.get()));
    completion->watch(
        event.get(), "slow", [](void* context) noexcept { *static_cast<bool*>(context) = true; }, &called);
    completion->finish();
    EXPECT_TRUE(std::exchange(called, false));
  }
}

}  // namespace
}  // namespace echoform::gpu
