#include <cuda_fp16.h>

#include "benchmarks/device_kernels.hpp"
#include "gpu/cuda_check.hpp"

namespace echoform::benchmarks {
namespace {

/// splitmix32: every input bit reaches every output bit, which is all that noise needs.
__device__ std::uint32_t scrambled(std::uint32_t x) {
  x += 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x21f0aaadU;
  x = (x ^ (x >> 15)) * 0x735a2d97U;
  return x ^ (x >> 15);
}

__device__ float uniform(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24F * 2.0F * random_peak - random_peak;
}

__global__ void fill_random(DeviceRows rows) {
  const std::size_t place = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (place >= rows.lead + rows.rows * rows.stride) return;
  float2 value = make_float2(0.0F, 0.0F);
  if (place >= rows.lead && (place - rows.lead) % rows.stride < rows.samples) {
    const auto seed = static_cast<std::uint32_t>(2 * (place - rows.lead));
    value = make_float2(uniform(scrambled(seed)), uniform(scrambled(seed + 1)));
  }
  rows.data[place] = value;
}

__device__ std::uint32_t half_pair(float low, float high) {
  const std::uint32_t a = __half_as_ushort(__float2half_rn(low));
  const std::uint32_t b = __half_as_ushort(__float2half_rn(high));
  return a | b << 16;
}

__global__ void half_slope(DeviceRows rows, float scale, uint2* target) {
  const std::size_t place = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (place >= rows.lead + rows.rows * rows.stride) return;
  uint2 value = make_uint2(0U, 0U);
  if (place >= rows.lead && (place - rows.lead) % rows.stride + 1 < rows.samples) {
    const float2 here = rows.data[place];
    const float2 next = rows.data[place + 1];
    value.x = half_pair(here.x * scale, here.y * scale);
    value.y = half_pair((next.x - here.x) * scale * 0x1p14F, (next.y - here.y) * scale * 0x1p14F);
  }
  target[place] = value;
}

__device__ void look_up(const DirectSum& task, const float2* row, double u, double weight, double2& sum, std::uint32_t& lookups) {
  if (!(u >= 0.0) || !(u < static_cast<double>(task.rows.samples - 1))) return;
  const int n = static_cast<int>(u);
  const double f = u - n;
  const float2 a = row[n];
  const float2 b = row[n + 1];
  sum.x += weight * fma(f, static_cast<double>(b.x) - static_cast<double>(a.x), static_cast<double>(a.x));
  sum.y += weight * fma(f, static_cast<double>(b.y) - static_cast<double>(a.y), static_cast<double>(a.y));
  ++lookups;
}

__global__ void __launch_bounds__(128) direct_sum(DirectSum task, double2* image, std::uint32_t* counts) {
  const std::uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t pixels = task.nx * task.ny * task.nz;
  if (pixel >= pixels) return;
  const double x = task.pixel_x[pixel % task.nx];
  const double y = task.pixel_y[pixel / task.nx % task.ny];
  const double z = task.pixel_z[pixel / task.nx / task.ny];
  const auto distance = [&](std::uint32_t element) {
    const double dx = x - task.element_x[element];
    const double dy = y - task.element_y[element];
    return sqrt(dx * dx + dy * dy + z * z);
  };
  double2 sum = make_double2(0.0, 0.0);
  std::uint32_t lookups = 0;
  const float2* row = task.rows.data + task.rows.lead;
  const auto weight = [&](std::uint32_t element) {
    if (task.weights == nullptr) return 1.0;
    return static_cast<double>(task.weights[std::size_t{element} * pixels + pixel]);
  };
  for (std::uint32_t wave = 0; wave < task.wave_count; ++wave) {
    const DirectWave& form = task.waves[wave];
    const double to_pixel = form.x * x + form.z * z + form.at_origin;
    for (std::uint32_t j = 0; j < task.elements; ++j, row += task.rows.stride) {
      look_up(task, row, to_pixel + distance(j) * task.receive_samples_per_metre, 1.0, sum, lookups);
    }
  }
  for (std::uint32_t i = 0; i < (task.waves == nullptr ? task.elements : 0); ++i) {
    const double to_i = distance(i);
    const double weight_of_i = weight(i);
    for (std::uint32_t j = i; j < task.elements; ++j, row += task.rows.stride) {
      const double to_j = distance(j);
      const double both = weight_of_i * weight(j);
      const double forth = to_i * task.transmit_samples_per_metre + to_j * task.receive_samples_per_metre;
      look_up(task, row, forth, i == j || task.both_ways ? both : both * task.off_diagonal, sum, lookups);
      if (task.both_ways && i != j) {
        const double back = to_j * task.transmit_samples_per_metre + to_i * task.receive_samples_per_metre;
        look_up(task, row, back, both, sum, lookups);
      }
    }
  }
  image[pixel] = make_double2(sum.x * task.scale, sum.y * task.scale);
  counts[pixel] = lookups;
}

template <class Word>
__device__ unsigned folded(Word word);
template <>
__device__ unsigned folded(uint2 word) {
  return word.x ^ word.y;
}
template <>
__device__ unsigned folded(uint4 word) {
  return word.x ^ word.y ^ word.z ^ word.w;
}

template <class Word>
__global__ void __launch_bounds__(ceiling_threads) shared_loads(unsigned* sink) {
  constexpr unsigned words = 32U * 1024U / sizeof(Word);
  __shared__ Word memory[words];
  for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
    Word word{};
    word.x = k;
    memory[k] = word;
  }
  __syncthreads();
  unsigned sum = 0;
  unsigned place = threadIdx.x & 511U;
  for (unsigned round = 0; round < ceiling_loads / 16U; ++round) {
#pragma unroll
    for (unsigned k = 0; k < 16U; ++k) sum ^= folded(memory[place + 32U * k]);
    place = (place + 32U) & 511U;
  }
  // The condition is never true; it makes the loads appear necessary to the compiler.
  if (sum == 0xffffffffU) sink[0] = sum;
}

__global__ void __launch_bounds__(ceiling_threads) issues(float* sink) {
  float sums[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) sums[k] = static_cast<float>(threadIdx.x + k);
  const float factor = 1.0F - 1e-6F * static_cast<float>(blockIdx.x);
  for (unsigned round = 0; round < ceiling_issues / 128U; ++round) {
#pragma unroll
    for (int k = 0; k < 128; ++k) sums[k % 8] = fmaf(sums[k % 8], factor, 1.0F);
  }
  float sum = 0.0F;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += sums[k];
  if (sum == -1.0F) sink[0] = sum;
}

unsigned blocks_for(std::size_t items, unsigned threads) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

}  // namespace

void launch_fill_random(const DeviceRows& rows, cudaStream_t stream) {
  fill_random<<<blocks_for(rows.lead + rows.rows * rows.stride, 256), 256, 0, stream>>>(rows);
  ECHOFORM_CUDA_LAUNCHED("fill_random");
}

void launch_half_slope(const DeviceRows& rows, float scale, uint2* target, cudaStream_t stream) {
  half_slope<<<blocks_for(rows.lead + rows.rows * rows.stride, 256), 256, 0, stream>>>(rows, scale, target);
  ECHOFORM_CUDA_LAUNCHED("half_slope");
}

void launch_direct_sum(const DirectSum& task, double2* image, std::uint32_t* lookups, cudaStream_t stream) {
  direct_sum<<<blocks_for(std::size_t{task.nx} * task.ny * task.nz, 128), 128, 0, stream>>>(task, image, lookups);
  ECHOFORM_CUDA_LAUNCHED("direct_sum");
}

void launch_shared_loads(unsigned bytes, unsigned blocks, unsigned* sink, cudaStream_t stream) {
  if (bytes == 16) {
    shared_loads<uint4><<<blocks, ceiling_threads, 0, stream>>>(sink);
  } else {
    shared_loads<uint2><<<blocks, ceiling_threads, 0, stream>>>(sink);
  }
  ECHOFORM_CUDA_LAUNCHED("shared_loads");
}

void launch_issues(unsigned blocks, float* sink, cudaStream_t stream) {
  issues<<<blocks, ceiling_threads, 0, stream>>>(sink);
  ECHOFORM_CUDA_LAUNCHED("issues");
}

}  // namespace echoform::benchmarks
