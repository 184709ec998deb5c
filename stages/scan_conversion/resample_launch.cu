#include "gpu/cuda_check.hpp"
#include "stages/scan_conversion/resample_launch.hpp"
#include "stages/scan_conversion/scan_conversion_math.hpp"

namespace echoform {
namespace {

constexpr unsigned across = 32;
constexpr unsigned down = 8;

__device__ __forceinline__ void put(float value, float& out) {
  out = value;
}
__device__ __forceinline__ void put(float value, std::uint8_t& out) {
  out = level_of(value);
}

/// Columns of the input are first blended and then resampled along the row, in the order of the loops on the CPU.
template <int Taps, class Pixel>
__global__ __launch_bounds__(across* down) void resample(Resampling r, const Pixel* __restrict__ input,
                                                         Pixel* __restrict__ output) {
  const std::uint32_t x = blockIdx.x * across + threadIdx.x;
  if (x >= r.columns.count) return;
  std::int32_t column[Taps];
  float column_weight[Taps];
#pragma unroll
  for (int k = 0; k < Taps; ++k) {
    column[k] = __ldg(r.columns.index + k * r.columns.count + x);
    column_weight[k] = __ldg(r.columns.weight + k * r.columns.count + x);
  }
  const bool inside = x >= r.columns.begin && x < r.columns.end;
  for (std::uint32_t z = blockIdx.y * down + threadIdx.y; z < r.rows.count; z += gridDim.y * down) {
    float sum = 0.0F;
    if (inside && z >= r.rows.begin && z < r.rows.end) {
      const Pixel* row[Taps];
      float row_weight[Taps];
#pragma unroll
      for (int k = 0; k < Taps; ++k) {
        row[k] = input + static_cast<std::size_t>(__ldg(r.rows.index + k * r.rows.count + z)) * r.input_stride;
        row_weight[k] = __ldg(r.rows.weight + k * r.rows.count + z);
      }
#pragma unroll
      for (int k = 0; k < Taps; ++k) {
        float blended = row_weight[0] * static_cast<float>(__ldg(row[0] + column[k]));
#pragma unroll
        for (int j = 1; j < Taps; ++j) blended += row_weight[j] * static_cast<float>(__ldg(row[j] + column[k]));
        sum = k == 0 ? column_weight[0] * blended : sum + column_weight[k] * blended;
      }
    }
    put(sum, output[std::size_t{z} * r.columns.count + x]);
  }
}

template <class Pixel>
void launch_by(const Resampling& r, const Pixel* input, Pixel* output, cudaStream_t stream) {
  const unsigned high = (r.rows.count + down - 1) / down;
  const dim3 grid((r.columns.count + across - 1) / across, high < 65535 ? high : 65535);
  const dim3 block(across, down);
  if (r.taps == 1) {
    resample<1><<<grid, block, 0, stream>>>(r, input, output);
  } else if (r.taps == 2) {
    resample<2><<<grid, block, 0, stream>>>(r, input, output);
  } else {
    resample<4><<<grid, block, 0, stream>>>(r, input, output);
  }
  ECHOFORM_CUDA_LAUNCHED("scan conversion");
}

}  // namespace

void launch_resample(const Resampling& resampling, const std::uint8_t* input, std::uint8_t* output, cudaStream_t stream) {
  launch_by(resampling, input, output, stream);
}
void launch_resample(const Resampling& resampling, const float* input, float* output, cudaStream_t stream) {
  launch_by(resampling, input, output, stream);
}

}  // namespace echoform
