#include "gpu/code_check.hpp"

namespace echoform::gpu {
namespace {

__global__ void nothing() {}

}  // namespace

cudaError_t check_code() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&nothing));
}

}  // namespace echoform::gpu
