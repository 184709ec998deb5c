#include <vector>

#include "benchmarks/paper_kernels.hpp"
#include "gpu/cuda_check.hpp"

namespace echoform::benchmarks {
namespace {

constexpr std::uint32_t pairs_at_most = paper_elements * (paper_elements + 1) / 2;
__constant__ float constant_element_x[paper_elements];
__constant__ float constant_weights[pairs_at_most];

/// One of the paper's "Rutinas matematicas optimizadas para alta velocidad": not IEEE-conforming, accurate to about 1 in 2^22.
__device__ float fast_root(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

__device__ float path(float2 place, float element_x) {
  const float dx = place.x - element_x;
  return fast_root(fmaf(dx, dx, place.y * place.y));
}

__device__ void add(float2& sum, float weight, float2 sample) {
  sum.x = fmaf(weight, sample.x, sum.x);
  sum.y = fmaf(weight, sample.y, sum.y);
}

__device__ float envelope_of(float2 sum) {
  return fast_root(fmaf(sum.x, sum.x, sum.y * sum.y));
}

__global__ void gpu1(PaperTask task) {
  const std::uint32_t k = threadIdx.x + blockIdx.x * blockDim.x;
  const std::uint32_t l = blockIdx.y;
  if (k >= task.nx) return;
  const float2 place = task.coordinates[l * task.nx + k];
  const float limit = static_cast<float>(task.samples - 1);
  float2 sum = make_float2(0.0F, 0.0F);
  const float2* row = task.rows;
  std::uint32_t pair = 0;
  for (std::uint32_t i = 0; i < task.elements; ++i) {
    const float to_i = path(place, constant_element_x[i]);
    for (std::uint32_t j = i; j < task.elements; ++j, ++pair, row += task.stride) {
      const float m = (to_i + path(place, constant_element_x[j])) * task.samples_per_metre;
      if (m >= 0.0F && m < limit) {
        const int n = static_cast<int>(m);
        const float f = m - static_cast<float>(n);
        const float2 a = row[n];
        const float2 b = row[n + 1];
        add(sum, constant_weights[pair], make_float2(fmaf(f, b.x - a.x, a.x), fmaf(f, b.y - a.y, a.y)));
      }
    }
  }
  task.envelope[l * task.nx + k] = envelope_of(sum);
}

/// A lookup of GPU1op and GPU2, with the interpolation of the texture.
__device__ void fetch(const PaperTask& task, float m, std::uint32_t pair, float limit, float2& sum) {
  if (m >= 0.0F && m < limit) {
    add(sum, constant_weights[pair], tex2D<float2>(task.signals, m + 0.5F, static_cast<float>(pair) + 0.5F));
  }
}

__device__ void load_elements(const PaperTask& task, float* element_x) {
  for (std::uint32_t k = threadIdx.x + threadIdx.y * blockDim.x; k < task.elements; k += blockDim.x * blockDim.y) {
    element_x[k] = task.element_x[k];
  }
  __syncthreads();
}

__global__ void gpu1_op(PaperTask task) {
  __shared__ float element_x[paper_elements];
  load_elements(task, element_x);
  const std::uint32_t k = threadIdx.x + blockIdx.x * blockDim.x;
  const std::uint32_t l = blockIdx.y;
  if (k >= task.nx) return;
  const float2 place = tex1Dfetch<float2>(task.coordinate_texture, static_cast<int>(l * task.nx + k));
  const float limit = static_cast<float>(task.samples - 1);
  float2 sum = make_float2(0.0F, 0.0F);
  std::uint32_t pair = 0;
  for (std::uint32_t i = 0; i < task.elements; ++i) {
    const float to_i = path(place, element_x[i]);
    for (std::uint32_t j = i; j < task.elements; ++j, ++pair) {
      fetch(task, (to_i + path(place, element_x[j])) * task.samples_per_metre, pair, limit, sum);
    }
  }
  task.envelope[l * task.nx + k] = envelope_of(sum);
}

__global__ void gpu2_low_resolution(PaperTask task) {
  __shared__ float element_x[paper_elements];
  load_elements(task, element_x);
  const std::uint32_t k = threadIdx.x + blockIdx.x * blockDim.x;
  const std::uint32_t l = threadIdx.y + blockIdx.y * blockDim.y;
  const std::uint32_t i = blockIdx.z;
  if (k >= task.nx || l >= task.nz) return;
  const float2 place = tex1Dfetch<float2>(task.coordinate_texture, static_cast<int>(l * task.nx + k));
  const float limit = static_cast<float>(task.samples - 1);
  float2 sum = make_float2(0.0F, 0.0F);
  const float to_i = path(place, element_x[i]);
  std::uint32_t pair = i * task.elements - i * (i + 1) / 2 + i;
  for (std::uint32_t j = i; j < task.elements; ++j, ++pair) {
    fetch(task, (to_i + path(place, element_x[j])) * task.samples_per_metre, pair, limit, sum);
  }
  task.low_resolution[(static_cast<std::size_t>(i) * task.nz + l) * task.nx + k] = sum;
}

__global__ void gpu2_sum(PaperTask task) {
  const std::uint32_t k = threadIdx.x + blockIdx.x * blockDim.x;
  const std::uint32_t l = threadIdx.y + blockIdx.y * blockDim.y;
  if (k >= task.nx || l >= task.nz) return;
  float2 sum = make_float2(0.0F, 0.0F);
  for (std::uint32_t i = 0; i < task.elements; ++i) {
    const float2 part = __ldg(task.low_resolution + (static_cast<std::size_t>(i) * task.nz + l) * task.nx + k);
    sum.x += part.x;
    sum.y += part.y;
  }
  task.envelope[l * task.nx + k] = envelope_of(sum);
}

__global__ void unpack(const std::int16_t* counts, float* values, std::size_t count) {
  const std::size_t place = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (place < count) values[place] = static_cast<float>(counts[place]);
}

__global__ void mask(float2* spectra, std::uint32_t samples, std::size_t stride) {
  float2* row = spectra + blockIdx.y * stride;
  const std::uint32_t bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin >= samples) return;
  const bool once = bin == 0 || 2 * bin == samples;
  const float factor = 2 * bin > samples ? 0.0F : (once ? 1.0F : 2.0F) / static_cast<float>(samples);
  // Bins above the middle are not read, because they were never written.
  row[bin] = factor == 0.0F ? make_float2(0.0F, 0.0F) : make_float2(row[bin].x * factor, row[bin].y * factor);
}

std::uint32_t blocks_for(std::size_t items, std::uint32_t threads) {
  return static_cast<std::uint32_t>((items + threads - 1) / threads);
}

}  // namespace

void set_paper_constants(const float* element_x, std::uint32_t elements) {
  const float weight = 1.0F / static_cast<float>(elements * elements);
  const std::vector<float> weights(elements * (elements + 1) / 2, weight);
  ECHOFORM_CUDA(cudaMemcpyToSymbol(constant_element_x, element_x, elements * sizeof(float)));
  ECHOFORM_CUDA(cudaMemcpyToSymbol(constant_weights, weights.data(), weights.size() * sizeof(float)));
  ECHOFORM_CUDA(cudaDeviceSynchronize());
}

void launch_paper_gpu1(const PaperTask& task, cudaStream_t stream) {
  gpu1<<<dim3(blocks_for(task.nx, 128), task.nz), 128, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("gpu1");
}

void launch_paper_gpu1_op(const PaperTask& task, cudaStream_t stream) {
  gpu1_op<<<dim3(blocks_for(task.nx, 128), task.nz), 128, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("gpu1_op");
}

void launch_paper_gpu2(const PaperTask& task, cudaStream_t stream) {
  // A block has as many threads as elements: 16 x 8 for 128, 8 x 8 for 64. For other arrays it consists of whole warps.
  const dim3 block(task.elements > 64 ? 16 : 8, 8);
  const std::uint32_t across = blocks_for(task.nx, block.x);
  const std::uint32_t down = blocks_for(task.nz, block.y);
  gpu2_low_resolution<<<dim3(across, down, task.elements), block, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("gpu2_low_resolution");
  gpu2_sum<<<dim3(across, down), block, 0, stream>>>(task);
  ECHOFORM_CUDA_LAUNCHED("gpu2_sum");
}

void launch_paper_unpack(const std::int16_t* counts, float* values, std::size_t count, cudaStream_t stream) {
  unpack<<<blocks_for(count, 256), 256, 0, stream>>>(counts, values, count);
  ECHOFORM_CUDA_LAUNCHED("unpack");
}

void launch_paper_mask(float2* spectra, std::size_t rows, std::uint32_t samples, std::size_t stride, cudaStream_t stream) {
  mask<<<dim3(blocks_for(samples, 256), static_cast<std::uint32_t>(rows)), 256, 0, stream>>>(spectra, samples, stride);
  ECHOFORM_CUDA_LAUNCHED("mask");
}

}  // namespace echoform::benchmarks
