#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "benchmarks/device_timing.hpp"
#include "gpu/stream.hpp"

namespace echoform::benchmarks {

DeviceTimer::DeviceTimer(cudaStream_t stream, std::function<void()> work)
    : stream_(stream), work_(std::move(work)), begin_(gpu::make_event(true)), end_(gpu::make_event(true)) {
  static_cast<void>(seconds_of(2));
  const double estimate = seconds_of(2);
  runs_ = static_cast<std::size_t>(std::clamp(std::ceil(5e-3 / std::max(estimate, 1e-7)), 1.0, 1000.0));
  // The clock of the device rises under load, so another half of a measurement runs before the first one that counts.
  static_cast<void>(seconds_of(runs_));
}

double DeviceTimer::seconds() {
  return seconds_of(runs_);
}

double DeviceTimer::seconds_of(std::size_t runs) {
  ECHOFORM_CUDA(cudaEventRecord(begin_.get(), stream_));
  for (std::size_t run = 0; run < runs; ++run) work_();
  ECHOFORM_CUDA(cudaEventRecord(end_.get(), stream_));
  ECHOFORM_CUDA(cudaEventSynchronize(end_.get()));
  float milliseconds = 0.0F;
  ECHOFORM_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
  return 1e-3 * static_cast<double>(milliseconds) / static_cast<double>(runs);
}

Spread seconds_on_device(cudaStream_t stream, std::size_t rounds, const std::function<void()>& work) {
  DeviceTimer timer(stream, work);
  std::vector<double> seconds;
  for (std::size_t round = 0; round < rounds; ++round) seconds.push_back(timer.seconds());
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
