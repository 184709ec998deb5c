// The kernels of the spherical model. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "operators/spherical_tile_math.hpp"

namespace echoform::gpu {

/// Shared by both directions. Detectors are those of one pass; rows of a pass are as long as all of them.
struct SphericalScene {
  spherical::Tiles tiles;
  spherical::Lattice lattice;
  double shift;
  float least;         ///< square of a hundredth of the spacing
  std::int32_t first;  ///< cells of arrivals that count
  std::int32_t last;
  std::int32_t length;  ///< cells
  std::int32_t levels;  ///< grids of a detector: 1 of points, spherical's 3 of rectangles
  const spherical::Listener* listeners;
  std::int32_t detectors;
};

/// Impulses to moments, in `parts` parts of the tiles, each with sums of its own.
struct SpreadTask {
  SphericalScene scene;
  const float* image;
  void* sums;  ///< [part][detector][level][cell] of spread_cell_bytes(); zeros before
  std::int32_t parts;
  std::int32_t lanes;  ///< detectors of a warp: 32, or less where windows are large
};
[[nodiscard]] std::size_t spread_cell_bytes(bool rectangles);
/// Shared memory of a warp with `lanes` detectors.
[[nodiscard]] std::size_t spread_bytes(const SphericalScene& scene, std::int32_t lanes);
/// Warps that work at a time on the current device. To be asked before queue_spread(), once for a scene: it allows that much
/// memory.
[[nodiscard]] std::int32_t spread_warps(const SphericalScene& scene, std::int32_t lanes);
void queue_spread(const SpreadTask& task, cudaStream_t stream) noexcept;

/// moments [detector][level][moment][cell] = the sum over parts, in their order.
struct SumTask {
  const void* sums;
  float* moments;
  std::int32_t detectors;
  std::int32_t levels;
  std::int32_t length;
  std::int32_t parts;
};
void queue_sums(const SumTask& task, cudaStream_t stream) noexcept;

/// Spectra: [detector][plane][0 .. length / 2] of planes (level, moment), and [detector][0 .. period / 2] of rows.
struct SpectrumTask {
  float2* planes;
  float2* rows;
  const float2* factors;  ///< [plane][band - 1]
  std::int32_t detectors;
  std::int32_t count;  ///< planes
  std::int32_t bands;
  std::int32_t length;
  std::int32_t period;
};
/// rows = SUM over planes of factor * plane; 0 outside of the bands.
void queue_bands_of_rows(const SpectrumTask& task, cudaStream_t stream) noexcept;
/// planes = conj(factor) * row; 0 outside of the bands.
void queue_bands_of_planes(const SpectrumTask& task, cudaStream_t stream) noexcept;

/// Rows of data within signals of a period; dead ones are 0.
struct SignalTask {
  float* signals;  ///< [detector][period]
  float* data;     ///< [detector][sample]
  const std::uint8_t* dead;
  std::int32_t detectors;
  std::int32_t samples;
  std::int32_t period;
  std::int32_t before;
};
void queue_data_of_signals(const SignalTask& task, cudaStream_t stream) noexcept;
/// The other way, and 0 around it.
void queue_signals_of_data(const SignalTask& task, cudaStream_t stream) noexcept;

struct GatherTask {
  SphericalScene scene;
  const float* fields;  ///< [detector][level][moment][cell]
  float* image;         ///< added to, detector after detector
};
/// Allows the shared memory that queue_gather() takes, on the current device; false where it has not as much.
[[nodiscard]] bool allow_gather(const SphericalScene& scene);
void queue_gather(const GatherTask& task, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
