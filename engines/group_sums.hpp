// The sum of the groups' images on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "pipeline/sample_quality.hpp"

namespace echoform::gpu {

/// sums[k] += image[k] in double precision, complex numbers both, `pixels` of them, on `stream`.
void launch_add_to_sums(double2* sums, const float2* image, std::size_t pixels, cudaStream_t stream) noexcept;
/// image[k] = sums[k], rounded.
void launch_round_sums(float2* image, const double2* sums, std::size_t pixels, cudaStream_t stream) noexcept;
/// Adds the counts of a group. All in device memory.
void launch_add_quality(SampleQuality* sum, const SampleQuality* of_group, cudaStream_t stream) noexcept;

}  // namespace echoform::gpu
