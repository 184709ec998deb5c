// cuFFT's functions where the library is, and the line where it is not. Plans need a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "base/errors.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/cufft_library.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/stream_queue.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CufftLibrary, IsOfTheMajorVersionThatWasCompiledAgainstOrSaysWhatIsMissing) {
  const std::string reason = gpu::why_no_cufft();
  if (!reason.empty()) {
    EXPECT_THAT(reason, AllOf(StartsWith("cuFFT (libcufft.so.12) was not found: "), HasSubstr("LD_LIBRARY_PATH")));
    EXPECT_EQ(cufft_status(), reason);
    EXPECT_THROW(static_cast<void>(gpu::cufft_library()), RuntimeFault);
    return;
  }
  int version = 0;
  ASSERT_EQ(gpu::cufft_library().get_version(&version), CUFFT_SUCCESS);
  EXPECT_EQ(version / 1000, CUFFT_VER_MAJOR);
  EXPECT_THAT(cufft_status(), StartsWith(std::to_string(CUFFT_VER_MAJOR) + "."));
}

TEST(CufftLibrary, ErrorsNamePlaceAndReason) {
  try {
    ECHOFORM_CUFFT(CUFFT_NO_WORKSPACE);
    FAIL() << "no fault";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(),
                AllOf(StartsWith("GPU: gpu/cufft_library_test_cuda.cpp:"), HasSubstr("CUFFT_NO_WORKSPACE: no work area")));
  }
}

TEST(CufftLibrary, TransformsOnTheGpu) {
  ECHOFORM_REQUIRE_GPU();
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  // The transform of a constant is its sum in the first bin: exact in single precision.
  std::vector<std::complex<float>> values(8, {1.0F, -2.0F});
  const auto buffer = backend->allocate(values.size() * sizeof values[0], MemoryUse::working);
  copy_now(buffer.data(), values.data(), values.size() * sizeof values[0]);
  const gpu::CufftLibrary& cufft = gpu::cufft_library();
  const gpu::FftPlan plan;
  int length = 8;
  std::size_t work = 0;
  ECHOFORM_CUFFT(cufft.make_plan_many(plan.get(), 1, &length, nullptr, 1, length, nullptr, 1, length, CUFFT_C2C, 1, &work));
  ECHOFORM_CUFFT(cufft.set_stream(plan.get(), gpu::stream_of(*queue)));
  auto* const data = reinterpret_cast<cufftComplex*>(buffer.data());
  ECHOFORM_CUFFT(cufft.exec_c2c(plan.get(), data, data, CUFFT_FORWARD));
  queue->finish();
  copy_now(values.data(), buffer.data(), values.size() * sizeof values[0]);
  EXPECT_EQ(values[0], std::complex<float>(8.0F, -16.0F));
  for (std::size_t bin = 1; bin < values.size(); ++bin) EXPECT_EQ(values[bin], std::complex<float>(0.0F, 0.0F)) << bin;
}

}  // namespace
}  // namespace echoform
