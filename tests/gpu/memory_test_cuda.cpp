// Memory that is refused, by calls of the test's own: no GPU is needed.
#include "gpu/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <sstream>

#include "base/errors.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/memory_calls.hpp"
#include "gpu/probe_status.hpp"

namespace echoform::gpu {
namespace {

std::vector<unsigned int> asked;

cudaError_t no_write_combined(void** data, std::size_t bytes, unsigned int flags) {
  asked.push_back(flags);
  if (flags == cudaHostAllocWriteCombined) return cudaErrorNotSupported;
  *data = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t give_back(void* data) {
  std::free(data);
  return cudaSuccess;
}
cudaError_t none_on_host(void** /*data*/, std::size_t /*bytes*/, unsigned int /*flags*/) {
  return cudaErrorMemoryAllocation;
}
cudaError_t none_on_device(void** /*data*/, std::size_t /*bytes*/) {
  return cudaErrorMemoryAllocation;
}
cudaError_t little_left(std::size_t* free, std::size_t* total) {
  *free = 3'000'000;
  *total = 16'000'000'000;
  return cudaSuccess;
}

class RefusedMemory : public testing::Test {
 protected:
  void SetUp() override {
    asked.clear();
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_st>(log)));
  }
  void TearDown() override {
    spdlog::set_default_logger(before_);
    memory_calls() = MemoryCalls{};
  }
  [[nodiscard]] std::size_t lines_logged() const {
    const std::string text = log.str();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  std::ostringstream log;

 private:
  std::shared_ptr<spdlog::logger> before_;
};

TEST_F(RefusedMemory, FallsBackToPlainPinnedMemoryAndSaysSoOnce) {
  memory_calls().host_alloc = no_write_combined;
  memory_calls().host_free = give_back;
  for (int k = 0; k < 3; ++k) {
    const Buffer buffer = allocate_pinned(1000, Pinned::write_combined);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer.size(), 1000u);
    for (std::size_t n = 0; n < 1000; ++n) ASSERT_EQ(buffer.bytes_begin()[n], std::byte{0});
  }
  EXPECT_THAT(asked, testing::ElementsAre(cudaHostAllocWriteCombined, cudaHostAllocDefault, cudaHostAllocWriteCombined,
                                          cudaHostAllocDefault, cudaHostAllocWriteCombined, cudaHostAllocDefault));
  EXPECT_EQ(lines_logged(), 1u) << log.str();
  EXPECT_THAT(log.str(), testing::HasSubstr("refuses write-combined pinned memory (operation not supported)"));
}

TEST_F(RefusedMemory, OfTheHostSaysWhatWasWantedAndWhatThereIs) {
  memory_calls().host_alloc = none_on_host;
  for (const Pinned kind : {Pinned::readable, Pinned::write_combined}) {
    try {
      (void)allocate_pinned(134'217'728, kind);
      ADD_FAILURE() << "refused memory was given";
    } catch (const RuntimeFault& fault) {
      EXPECT_THAT(fault.what(), testing::MatchesRegex("no pinned memory \\(out of memory\\): 134\\.2 MB wanted, "
                                                      "[0-9.]+ MB of the host's memory available"));
    }
  }
  EXPECT_EQ(lines_logged(), 0u) << log.str();
}

TEST_F(RefusedMemory, OfTheDeviceSaysWhatWasWantedAndWhatIsFree) {
  memory_calls().device_alloc = none_on_device;
  memory_calls().device_info = little_left;
  try {
    (void)allocate_device(12'300'000);
    ADD_FAILURE() << "refused memory was given";
  } catch (const RuntimeFault& fault) {
    EXPECT_STREQ(fault.what(), "GPU 0: no device memory (out of memory): 12.3 MB wanted, 3.0 of 16000.0 MB free");
  }
}

TEST(ProbeStatus, IsALineForEveryAnswer) {
  EXPECT_EQ(probe_status(cudaSuccess, 1, 13000, 13000), "1 device");
  EXPECT_EQ(probe_status(cudaSuccess, 2, 13000, 13000), "2 devices");
  EXPECT_EQ(probe_status(cudaSuccess, 0, 13000, 13000), "no device");
  EXPECT_EQ(probe_status(cudaErrorNoDevice, 0, 13000, 13000), "no device");
  EXPECT_EQ(probe_status(cudaErrorInsufficientDriver, 0, 0, 13000), "no driver");
  EXPECT_EQ(probe_status(cudaErrorInsufficientDriver, 0, 12040, 13000),
            "the driver is too old: it is for CUDA 12.4, and this build needs 13.0");
  EXPECT_EQ(probe_status(cudaErrorInitializationError, 0, 13000, 13000),
            "no answer from the driver: initialization error (cudaErrorInitializationError)");
}

TEST(CudaCheck, NamesPlaceCallAndCudasText) {
  try {
    ECHOFORM_CUDA(cudaErrorInvalidValue);
    ADD_FAILURE() << "an error was passed over";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), testing::MatchesRegex("GPU: gpu/memory_test_cuda\\.cpp:[0-9]+: cudaErrorInvalidValue: "
                                                    "invalid argument \\(cudaErrorInvalidValue\\)"));
  }
}

TEST(CudaCheck, KnowsWhichErrorsLast) {
  for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorAssert,
                                  cudaErrorLaunchTimeout, cudaErrorMisalignedAddress}) {
    EXPECT_TRUE(sticky(error)) << cudaGetErrorName(error);
  }
  for (const cudaError_t error : {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorNotReady,
                                  cudaErrorNoDevice, cudaErrorInvalidConfiguration}) {
    EXPECT_FALSE(sticky(error)) << cudaGetErrorName(error);
  }
}

TEST(CudaCheckDeath, ALastingErrorEndsTheProcessFromSetUpToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string line = "an illegal memory access was encountered \\(cudaErrorIllegalAddress\\)\n$";
  EXPECT_EXIT(ECHOFORM_CUDA(cudaErrorIllegalAddress), testing::ExitedWithCode(1), "^echoform: GPU fault: gpu/.*: " + line);
  EXPECT_EXIT(ECHOFORM_CUDA_QUEUED(cudaErrorIllegalAddress), testing::ExitedWithCode(1), "^echoform: GPU fault: gpu/.*: " + line);
}

}  // namespace
}  // namespace echoform::gpu
