// Launches of the compression on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "stages/compression/compression_math.hpp"

namespace echoform {

/// An image of float32 numbers, rows `stride` apart.
struct ValueImage {
  const std::uint32_t* bits = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
};

/// Finds the peak of a frame where the rule follows it (of magnitudes with `magnitudes`), moves the reference, and leaves
/// the frame's curve in `state`. *readback, in pinned memory, receives the reference, too.
void launch_follow(const ValueImage& image, bool magnitudes, DeviceReference* state, ShownReference* readback,
                   cudaStream_t stream);

/// Compresses the image by the curve of `state`, whose kind is `kind`. Rows of `out` follow each other.
void launch_compress(const ValueImage& image, LevelKind kind, std::uint8_t* out, const DeviceReference* state,
                     cudaStream_t stream);

/// Sets the rule for frames that follow on the stream.
void launch_change(const ReferenceRule& rule, DeviceReference* state, cudaStream_t stream);

}  // namespace echoform
