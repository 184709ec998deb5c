// Adaptive weights of pixels on CUDA: the sum of each receiver at each pixel, from A-scans in device memory. For *.cu and
// *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/adaptive_weights/channel_sums.hpp"

namespace echoform::gpu {

/// LegColumns in device memory.
struct LegOnDevice {
  const std::int32_t* base = nullptr;  ///< [column, source]
  const float* offset = nullptr;       ///< [column, source, point]
  const float* weight = nullptr;       ///< likewise
  std::uint32_t sources = 0;
};

/// A row of a receiver, and the source that transmitted it.
struct PixelLookup {
  std::uint32_t row;
  std::uint32_t source;
};

struct PixelSumming {
  const void* rows = nullptr;  ///< complex64, without the zeros before them
  std::size_t row_stride = 0;  ///< in samples
  std::int32_t samples = 0;
  bool nearest = false;
  LegOnDevice transmit;
  LegOnDevice receive;
  const std::uint32_t* receivers = nullptr;      ///< those that are alive and have some row
  const std::uint32_t* first_lookups = nullptr;  ///< for each of `receivers` its first lookup, then the end
  const PixelLookup* lookups = nullptr;
  std::uint32_t receiver_count = 0;
  std::uint32_t points = 0;  ///< of a column
  std::uint32_t columns = 0;
};

/// Arguments of weights that follow from sums.
struct PixelWeighing {
  ChannelSums sums = ChannelSums::squares;
  std::uint32_t low_frequencies = 0;
  std::uint32_t half_window = 0;
  float scale = 1.0F;
  void* sum = nullptr;       ///< [column, point], complex
  void* energies = nullptr;  ///< [column, point], two floats each
  void* image = nullptr;     ///< [point, column], complex
};

/// Queues the kernels from rows to the image.
void launch_weigh_pixels(const PixelSumming& summing, const PixelWeighing& weighing, cudaStream_t stream) noexcept;

/// Channels of some columns.
struct PixelChannels {
  std::uint32_t first_column = 0;
  std::uint32_t columns = 0;
  std::uint32_t pitch = 0;   ///< receivers rounded up to a multiple of 32; the added ones have weight 0
  void* values = nullptr;    ///< [column, point, pitch], complex
  float* weights = nullptr;  ///< likewise, real; 0: the channel is left out
};

/// Queues the kernel that fills `to`.
void launch_pixel_channels(const PixelSumming& summing, const PixelChannels& to, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
