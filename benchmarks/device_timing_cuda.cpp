#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/device_timing.hpp"
#include "gpu/stream.hpp"

namespace echoform::benchmarks {

Spread seconds_on_device(cudaStream_t stream, std::size_t rounds, const std::function<void()>& work) {
  const gpu::Event begin = gpu::make_event(true);
  const gpu::Event end = gpu::make_event(true);
  const auto seconds_of = [&](std::size_t runs) {
    ECHOFORM_CUDA(cudaEventRecord(begin.get(), stream));
    for (std::size_t run = 0; run < runs; ++run) work();
    ECHOFORM_CUDA(cudaEventRecord(end.get(), stream));
    ECHOFORM_CUDA(cudaEventSynchronize(end.get()));
    float milliseconds = 0.0F;
    ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    return 1e-3 * static_cast<double>(milliseconds) / static_cast<double>(runs);
  };
  static_cast<void>(seconds_of(2));
  const double estimate = seconds_of(2);
  const auto runs = static_cast<std::size_t>(std::clamp(std::ceil(5e-3 / std::max(estimate, 1e-7)), 1.0, 1000.0));
  // The clock rises under load: half a measurement more before the first that counts.
  static_cast<void>(seconds_of(runs));
  std::vector<double> seconds;
  for (std::size_t round = 0; round < rounds; ++round) seconds.push_back(seconds_of(runs));
  return spread_of(std::move(seconds));
}

std::string DeviceFacts::text() const {
  return fmt::format("{}, {} multiprocessors, up to {:.2f} GHz", name, multiprocessors, 1e-9 * clock);
}

DeviceFacts device_facts() {
  int device = 0;
  ECHOFORM_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  ECHOFORM_CUDA(cudaGetDeviceProperties(&properties, device));
  int kilohertz = 0;
  ECHOFORM_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
  return {properties.name, properties.multiProcessorCount, 1e3 * kilohertz};
}

}  // namespace echoform::benchmarks
