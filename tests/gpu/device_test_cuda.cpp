// What the room says and gives on a machine with a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "base/errors.hpp"
#include "gpu/bandwidth.hpp"
#include "gpu/completion.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"
#include "gpu/stream_queue.hpp"
#include "tests/gpu/faulty_kernels.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;

class Gpu : public testing::Test {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_GPU(); }
};

TEST_F(Gpu, IsDescribed) {
  const GpuProbe probe = probe_devices();
  ASSERT_FALSE(probe.devices.empty());
  EXPECT_NE(probe.devices[0].name, "");
  EXPECT_GE(probe.devices[0].major, 5);
  EXPECT_GT(probe.devices[0].memory, std::size_t{1} << 30);
  EXPECT_THAT(probe.status, testing::MatchesRegex("[0-9]+ devices?"));
  EXPECT_THAT(probe.driver, testing::MatchesRegex("([0-9.]+ )?for CUDA [0-9]+\\.[0-9]+"));
}

TEST_F(Gpu, GivesMemoryOfEveryUseZeroed) {
  const auto backend = make_cuda_backend();
  for (const MemoryUse use : {MemoryUse::staging, MemoryUse::working, MemoryUse::readback}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20}) {
      const Buffer buffer = backend->allocate(bytes, use);
      ASSERT_TRUE(buffer);
      EXPECT_EQ(buffer.size(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
      std::vector<unsigned char> host(bytes, 0xA5);
      if (bytes > 0) copy_now(host.data(), buffer.data(), bytes);
      EXPECT_THAT(host, testing::Each(0));
    }
  }
}

TEST_F(Gpu, CopiesBothWays) {
  const auto backend = make_cuda_backend();
  std::vector<unsigned char> sent(1'000'003);
  for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = static_cast<unsigned char>(k * 7);
  const Buffer buffer = backend->allocate(sent.size(), MemoryUse::working);
  copy_now(buffer.data(), sent.data(), sent.size());
  std::vector<unsigned char> back(sent.size());
  copy_now(back.data(), buffer.data(), back.size());
  EXPECT_EQ(sent, back);
}

TEST_F(Gpu, RefusesADeviceThatIsNotThere) {
  const std::size_t count = probe_devices().devices.size();
  const auto device = static_cast<int>(count);
  EXPECT_THROW((void)why_no_cuda(device), InputError);
  EXPECT_THROW((void)make_cuda_backend(device), InputError);
  EXPECT_THROW((void)why_no_cuda(-1), InputError);
}

TEST_F(Gpu, RefusesMoreMemoryThanThereIs) {
  const DeviceMemory memory = device_memory(0);
  EXPECT_GT(memory.free, 0u);
  EXPECT_LE(memory.free, memory.total);
  EXPECT_THROW(require_device_memory(0, memory.total + 1, "nothing"), RuntimeFault);
  EXPECT_NO_THROW(require_device_memory(0, memory.free / 2, "nothing"));
  const auto backend = make_cuda_backend();
  try {
    (void)backend->allocate(2 * memory.total, MemoryUse::working);
    ADD_FAILURE() << "twice the memory was given";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), testing::MatchesRegex("GPU 0: no device memory \\(out of memory\\): [0-9.]+ MB wanted, [0-9.]+ of "
                                                    "[0-9.]+ MB free"));
  }
  // It is no lasting error.
  EXPECT_TRUE(backend->allocate(1000, MemoryUse::working));
}

TEST_F(Gpu, BandwidthIsMeasured) {
  const DeviceBandwidth found = measure_bandwidth(0);
  EXPECT_EQ(found.problem, "");
  EXPECT_GT(found.host_to_device, 1e9);
  EXPECT_GT(found.device_to_host, 1e9);
  EXPECT_GT(found.device_to_device, found.host_to_device);
  if (found.write_combined) {
    EXPECT_GT(found.from_write_combined, 1e9);
  }
}

TEST_F(Gpu, BandwidthOfADeviceThatIsNotThereIsAProblemAndNoMore) {
  const DeviceBandwidth found = measure_bandwidth(1000);
  EXPECT_NE(found.problem, "");
  EXPECT_EQ(found.host_to_device, 0.0);
}

struct Noted {
  std::vector<int> order;
  struct Item {
    Noted* noted;
    int number;
  };
  static void note(void* item) noexcept {
    const Item& from = *static_cast<Item*>(item);
    from.noted->order.push_back(from.number);
  }
};

TEST_F(Gpu, CompletionFollowsSubmissionOverSeveralStreams) {
  const gpu::Stream slow = gpu::make_stream();
  const gpu::Stream fast = gpu::make_stream();
  std::array<gpu::Event, 6> events;
  for (gpu::Event& event : events) event = gpu::make_event();
  Noted noted;
  noted.order.reserve(6);
  std::array<Noted::Item, 6> items{};
  const auto completion = gpu::make_completion_thread(0, 5s, 8);
  for (std::size_t k = 0; k < 6; ++k) {
    items[k] = {&noted, static_cast<int>(k)};
    const cudaStream_t stream = k % 2 == 0 ? slow.get() : fast.get();
    test::launch_spin(stream, k % 2 == 0 ? 20'000'000ULL : 1'000ULL);
    ECHOFORM_CUDA(cudaEventRecord(events[k].get(), stream));
    completion->watch(events[k].get(), "spin", &Noted::note, &items[k]);
  }
  completion->finish();
  EXPECT_THAT(noted.order, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Gpu, CompletionDoesNotDisturbACapture) {
  const gpu::Stream busy = gpu::make_stream();
  const gpu::Stream captured = gpu::make_stream();
  const gpu::Event event = gpu::make_event();
  const auto backend = make_cuda_backend();
  const Buffer buffer = backend->allocate(4096, MemoryUse::working);
  const auto completion = gpu::make_completion_thread(0, 5s, 8);
  test::launch_spin(busy.get(), 50'000'000ULL);
  ECHOFORM_CUDA(cudaEventRecord(event.get(), busy.get()));
  completion->watch(event.get(), "spin");
  // The strictest mode, while the other thread asks and asks: no one can see it, so the capture is left open for long.
  ECHOFORM_CUDA(cudaStreamBeginCapture(captured.get(), cudaStreamCaptureModeGlobal));
  std::this_thread::sleep_for(5ms);
  ECHOFORM_CUDA(cudaMemsetAsync(buffer.data(), 1, 4096, captured.get()));
  cudaGraph_t recorded = nullptr;
  ECHOFORM_CUDA(cudaStreamEndCapture(captured.get(), &recorded));
  const gpu::Graph graph(recorded);
  completion->finish();
}

TEST_F(Gpu, OwnersCarryAGraph) {
  const auto backend = make_cuda_backend();
  const Buffer buffer = backend->allocate(4096, MemoryUse::working);
  const auto queue = backend->make_queue();
  const cudaStream_t stream = gpu::stream_of(*queue);
  cudaGraph_t captured = nullptr;
  ECHOFORM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ECHOFORM_CUDA(cudaMemsetAsync(buffer.data(), 0x5A, 4096, stream));
  ECHOFORM_CUDA(cudaStreamEndCapture(stream, &captured));
  const gpu::Graph graph(captured);
  cudaGraphExec_t instance = nullptr;
  ECHOFORM_CUDA(cudaGraphInstantiate(&instance, graph.get(), 0));
  const gpu::GraphExec executable(instance);
  ECHOFORM_CUDA(cudaGraphLaunch(executable.get(), stream));
  queue->finish();
  std::vector<unsigned char> host(4096);
  copy_now(host.data(), buffer.data(), 4096);
  EXPECT_THAT(host, testing::Each(0x5A));
}

}  // namespace
}  // namespace echoform
