// The CUDA backend of a build without CUDA code.
#ifndef ECHOFORM_WITH_CUDA
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "pipeline/errors.hpp"

namespace echoform {

std::unique_ptr<Backend> make_cuda_backend(int /*device*/) {
  throw RuntimeFault("backend cuda: " + why_no_cuda());
}

std::string why_no_cuda() {
  return probe_devices().status;
}

void copy_now(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) {
  throw RuntimeFault("backend cuda: " + why_no_cuda());
}

}  // namespace echoform
#endif
