// The CUDA backend of a build without CUDA code.
#ifndef ECHOFORM_WITH_CUDA
#include "base/errors.hpp"
#include "gpu/bandwidth.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_probe.hpp"
#include "gpu/memory_report.hpp"

namespace echoform {
namespace {

[[noreturn]] void refuse() {
  throw RuntimeFault("backend cuda: " + why_no_cuda());
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int /*device*/) {
  refuse();
}

std::string why_no_cuda(int /*device*/) {
  return probe_devices().status;
}

void copy_now(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) {
  refuse();
}

std::size_t block_memory() {
  return usual_block_memory;
}

std::string cufft_status() {
  return "not used in this build";
}

std::string cublas_status() {
  return "not used in this build";
}

DeviceMemory device_memory(int /*device*/) {
  refuse();
}

DeviceBandwidth measure_bandwidth(int /*device*/) noexcept {
  DeviceBandwidth found;
  found.problem = "this build holds no CUDA code";
  return found;
}

}  // namespace echoform
#endif
