// Kernels that the benchmarks need beside the stages': data, the direct sum in double precision, and ceilings of the device.
// Launches only; `stream` orders them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace echoform::benchmarks {

/// complex64 rows with zeros before and between them, as the beamformer takes them: sample n of row r at
/// lead + r * stride + n.
struct DeviceRows {
  float2* data = nullptr;
  std::size_t lead = 0;
  std::size_t rows = 0;
  std::size_t samples = 0;
  std::size_t stride = 0;
};

/// Largest |re| and |im| of what launch_fill_random() makes.
inline constexpr float random_peak = 0.5F;

/// Both parts of every sample independently uniform in [-random_peak, random_peak), the same in every run; zeros elsewhere.
void launch_fill_random(const DeviceRows& rows, cudaStream_t stream);

/// Rows as ElementType::complex_half_slope with power of two `scale`, for linear interpolation: the last sample of a row is zero.
/// `target` has the rows' lead and stride.
void launch_half_slope(const DeviceRows& rows, float scale, uint2* target, cudaStream_t stream);

/// A plane wave's delay, in samples: x * pixel_x + z * pixel_z + at_origin.
struct DirectWave {
  double x;
  double z;
  double at_origin;
};

/// One view of a linear or matrix array at z = 0, of contact delays: |p - e| / velocity on either side, or of plane waves without
/// a tilt across the plane that it records.
struct DirectSum {
  DeviceRows rows;
  std::uint32_t elements = 0;
  bool both_ways = false;     ///< a pair stands for (i, j) and (j, i), which differ in delay: two lookups
  double off_diagonal = 1.0;  ///< weight of pairs looked up once
  /// [element, z, y, x], of either side; null where all are 1. A lookup counts whatever its weight.
  const float* weights = nullptr;
  const double* element_x = nullptr;
  const double* element_y = nullptr;
  const DirectWave* waves = nullptr;  ///< rows are [wave, element] then, and have no weights
  std::uint32_t wave_count = 0;
  const double* pixel_x = nullptr;  ///< [nx]
  const double* pixel_y = nullptr;  ///< [ny]
  const double* pixel_z = nullptr;  ///< [nz]
  std::uint32_t nx = 0;
  std::uint32_t ny = 0;
  std::uint32_t nz = 0;
  double transmit_samples_per_metre = 0.0;
  double receive_samples_per_metre = 0.0;
  double scale = 1.0;  ///< of the sum
};

/// image[z, y, x] in double precision throughout, by linear interpolation for 0 <= u < samples - 1, of half matrices or waves;
/// `lookups` counts those of each pixel. Plain: one thread a pixel.
void launch_direct_sum(const DirectSum& task, double2* image, std::uint32_t* lookups, cudaStream_t stream);

/// Loads of `bytes` (8 or 16) a thread from shared memory without bank conflicts, as many as the device can serve.
/// Threads that run: blocks * ceiling_threads; each loads ceiling_loads times.
inline constexpr unsigned ceiling_threads = 1024;
inline constexpr unsigned ceiling_loads = 16U * 1024U;
void launch_shared_loads(unsigned bytes, unsigned blocks, unsigned* sink, cudaStream_t stream);
/// Independent fused multiply-adds: each thread issues ceiling_issues of them and next to nothing else.
inline constexpr unsigned ceiling_issues = 64U * 1024U;
void launch_issues(unsigned blocks, float* sink, cudaStream_t stream);

}  // namespace echoform::benchmarks
