// Converts between spectra of cells' moments and data.
#include "gpu/cuda_check.hpp"
#include "operators/spherical_launch.hpp"

namespace echoform::gpu {
namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

__global__ void __launch_bounds__(threads) bands_of_rows(const __grid_constant__ SpectrumTask task) {
  const std::int32_t bins = task.period / 2 + 1;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= static_cast<std::int64_t>(task.detectors) * bins) return;
  const auto bin = static_cast<std::int32_t>(index % bins);
  float2 sum = make_float2(0.0F, 0.0F);
  if (bin >= 1 && bin <= task.bands) {
    const std::int64_t first = index / bins * task.count;
    for (std::int32_t n = 0; n < task.count; ++n) {
      const float2 factor = task.factors[static_cast<std::int64_t>(n) * task.bands + bin - 1];
      const float2 value = task.planes[(first + n) * (task.length / 2 + 1) + bin];
      sum.x = fmaf(factor.x, value.x, fmaf(-factor.y, value.y, sum.x));
      sum.y = fmaf(factor.x, value.y, fmaf(factor.y, value.x, sum.y));
    }
  }
  task.rows[index] = sum;
}

__global__ void __launch_bounds__(threads) bands_of_planes(const __grid_constant__ SpectrumTask task) {
  const std::int32_t bins = task.length / 2 + 1;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= static_cast<std::int64_t>(task.detectors) * task.count * bins) return;
  const auto bin = static_cast<std::int32_t>(index % bins);
  const std::int64_t plane = index / bins;
  float2 value = make_float2(0.0F, 0.0F);
  if (bin >= 1 && bin <= task.bands) {
    const float2 factor = task.factors[plane % task.count * task.bands + bin - 1];
    const float2 of_row = task.rows[plane / task.count * (task.period / 2 + 1) + bin];
    value.x = fmaf(factor.x, of_row.x, factor.y * of_row.y);
    value.y = fmaf(factor.x, of_row.y, -(factor.y * of_row.x));
  }
  task.planes[index] = value;
}

__global__ void __launch_bounds__(threads) data_of_signals(const __grid_constant__ SignalTask task) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= static_cast<std::int64_t>(task.detectors) * task.samples) return;
  const std::int64_t q = index / task.samples;
  task.data[index] = task.dead[q] != 0 ? 0.0F : task.signals[q * task.period + task.before + index % task.samples];
}

__global__ void __launch_bounds__(threads) signals_of_data(const __grid_constant__ SignalTask task) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index >= static_cast<std::int64_t>(task.detectors) * task.period) return;
  const std::int64_t q = index / task.period;
  const std::int64_t sample = index % task.period - task.before;
  const bool within = sample >= 0 && sample < task.samples && task.dead[q] == 0;
  task.signals[index] = within ? task.data[q * task.samples + sample] : 0.0F;
}

}  // namespace

void queue_bands_of_rows(const SpectrumTask& task, cudaStream_t stream) noexcept {
  bands_of_rows<<<blocks_for(static_cast<std::int64_t>(task.detectors) * (task.period / 2 + 1)), threads, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("bands of rows");
}

void queue_bands_of_planes(const SpectrumTask& task, cudaStream_t stream) noexcept {
  const std::int64_t bins = static_cast<std::int64_t>(task.detectors) * task.count * (task.length / 2 + 1);
  bands_of_planes<<<blocks_for(bins), threads, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("bands of planes");
}

void queue_data_of_signals(const SignalTask& task, cudaStream_t stream) noexcept {
  data_of_signals<<<blocks_for(static_cast<std::int64_t>(task.detectors) * task.samples), threads, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("data of signals");
}

void queue_signals_of_data(const SignalTask& task, cudaStream_t stream) noexcept {
  signals_of_data<<<blocks_for(static_cast<std::int64_t>(task.detectors) * task.period), threads, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("signals of data");
}

}  // namespace echoform::gpu
