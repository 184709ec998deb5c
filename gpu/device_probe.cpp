#include "gpu/device_probe.hpp"

namespace echoform {

#ifdef ECHOFORM_WITH_CUDA
GpuProbe probe_cuda_devices();  // device_probe_cuda.cpp

GpuProbe probe_devices() {
  return probe_cuda_devices();
}
#else
GpuProbe probe_devices() {
  GpuProbe probe;
  probe.status = "this build holds no CUDA code (nvcc was not found, or ECHOFORM_CUDA was OFF)";
  return probe;
}
#endif

}  // namespace echoform
