// Kernels of the paper's schedules: see paper_schedules.hpp. Launches only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform::benchmarks {

inline constexpr std::uint32_t paper_elements = 128;  ///< at most

struct PaperTask {
  const float2* rows = nullptr;  ///< half matrix, analytic
  std::size_t stride = 0;        ///< of rows, samples
  std::uint32_t samples = 0;
  std::uint32_t elements = 0;
  const float2* coordinates = nullptr;  ///< x and z of each pixel, [nz, nx]
  cudaTextureObject_t signals = 0;      ///< `rows` with linear filtering: x = sample + 0.5, y = pair + 0.5
  cudaTextureObject_t coordinate_texture = 0;
  const float* element_x = nullptr;
  std::uint32_t nx = 0;
  std::uint32_t nz = 0;
  float samples_per_metre = 0.0F;
  float2* low_resolution = nullptr;  ///< [elements, nz, nx]
  float* envelope = nullptr;         ///< [nz, nx]
};

/// Puts element places and the weight of every pair, divided by N^2, into constant memory. Waits.
void set_paper_constants(const float* element_x, std::uint32_t elements);

void launch_paper_gpu1(const PaperTask& task, cudaStream_t stream);
void launch_paper_gpu1_op(const PaperTask& task, cudaStream_t stream);
void launch_paper_gpu2(const PaperTask& task, cudaStream_t stream);

/// Counts of the converter to float.
void launch_paper_unpack(const std::int16_t* counts, float* values, std::size_t count, cudaStream_t stream);
/// Makes spectra of real signals (samples / 2 + 1 bins in rows of `stride`) those of analytic signals, scaled for the inverse
/// transform: positive frequencies twice, negative ones zero, all divided by `samples`.
void launch_paper_mask(float2* spectra, std::size_t rows, std::uint32_t samples, std::size_t stride, cudaStream_t stream);

}  // namespace echoform::benchmarks
