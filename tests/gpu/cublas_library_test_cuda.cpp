// cuBLAS's functions where the library is, and the line where it is not. Handles need a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/errors.hpp"
#include "gpu/cublas_library.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/stream_queue.hpp"
#include "tests/support/require_gpu.hpp"

namespace echoform {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CublasLibrary, IsOfTheMajorVersionThatWasCompiledAgainstOrSaysWhatIsMissing) {
  const std::string reason = gpu::why_no_cublas();
  if (!reason.empty()) {
    EXPECT_THAT(reason, AllOf(StartsWith("cuBLAS (libcublas.so." + std::to_string(CUBLAS_VER_MAJOR) + ") was not found: "),
                              HasSubstr("LD_LIBRARY_PATH")));
    EXPECT_EQ(cublas_status(), reason);
    EXPECT_THROW(static_cast<void>(gpu::cublas_library()), RuntimeFault);
    return;
  }
  EXPECT_THAT(cublas_status(), StartsWith(std::to_string(CUBLAS_VER_MAJOR) + "."));
}

TEST(CublasLibrary, ErrorsNamePlaceAndReason) {
  try {
    ECHOFORM_CUBLAS(CUBLAS_STATUS_ALLOC_FAILED);
    FAIL() << "no fault";
  } catch (const RuntimeFault& fault) {
    EXPECT_THAT(fault.what(), AllOf(StartsWith("GPU: gpu/cublas_library_test_cuda.cpp:"),
                                    HasSubstr("CUBLAS_STATUS_ALLOC_FAILED: no memory (cuBLAS error 3)")));
  }
}

TEST(CublasLibrary, MultipliesOnTheGpu) {
  ECHOFORM_REQUIRE_GPU();
  const auto backend = make_cuda_backend();
  const auto queue = backend->make_queue();
  // Column by column: [1 3; 2 4] times [5 7; 6 8], of small whole numbers and so exact.
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0};
  const auto buffer = backend->allocate(numbers.size() * sizeof(float), MemoryUse::working);
  copy_now(buffer.data(), numbers.data(), buffer.size());
  auto* const device = static_cast<float*>(buffer.data());
  const gpu::CublasLibrary& cublas = gpu::cublas_library();
  const gpu::CublasHandle handle;
  const float one = 1.0F;
  const float zero = 0.0F;
  ECHOFORM_CUBLAS(cublas.set_stream(handle.get(), gpu::stream_of(*queue)));
  ECHOFORM_CUBLAS(cublas.gemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, device, CUDA_R_32F, 2, device + 4,
                              CUDA_R_32F, 2, &zero, device + 8, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT));
  queue->finish();
  std::vector<float> product(4);
  copy_now(product.data(), device + 8, product.size() * sizeof(float));
  EXPECT_EQ(product, (std::vector<float>{23, 34, 31, 46}));
}

}  // namespace
}  // namespace echoform
