// The kernels of the interpolated model. For *.cu and *_cuda.cpp files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "operators/interpolated_ring_math.hpp"

namespace echoform::gpu {

/// Shared by both directions. Detectors are those of one pass.
struct InterpolatedScene {
  interpolated::Bricks bricks;
  interpolated::Radii radii;
  double scale;          ///< of weights: t / dt of radius 1
  std::int32_t slots;    ///< edges of a brick, at most
  std::int32_t samples;  ///< a row; edges are one more
  std::int32_t detectors;
  const interpolated::DetectorFrame* frames;
  const interpolated::RingFrame* ring_frames;
  const interpolated::AngleEntry* angles;  ///< angle_steps and one
  const std::uint8_t* dead;
  interpolated::ShellEntry* shells;  ///< [detector][edge]
};
/// Fills `shells`.
void queue_shells(const InterpolatedScene& scene, cudaStream_t stream) noexcept;

/// Integrals over what bricks have of spheres: parts [detector][brick][slot], of every slot; starts [detector][brick]: the edge
/// of slot 0.
struct IntegralTask {
  InterpolatedScene scene;
  const float* image;
  float* parts;
  std::int32_t* starts;
};
/// Must be called once on the current device before queue_integrals(), whose shared memory is more than kernels may use by
/// default.
void allow_integrals();
void queue_integrals(const IntegralTask& task, cudaStream_t stream) noexcept;
/// Differences of the sums of parts; dead rows are 0.
void queue_differences(const IntegralTask& task, double* edges, float* data, cudaStream_t stream) noexcept;

/// The transpose of differences: edges [detector][edge] of rows.
void queue_edges(const InterpolatedScene& scene, const float* data, float* edges, cudaStream_t stream) noexcept;

struct ScatterTask {
  InterpolatedScene scene;
  const float* edges;
  float* sums;  ///< [brick][voxel of it], added to
};
/// Must be called like allow_integrals().
void allow_scatter();
void queue_scatter(const ScatterTask& task, cudaStream_t stream) noexcept;
/// The image's voxels, of which bricks share those on their faces.
void queue_image(const InterpolatedScene& scene, const float* sums, float* image, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
