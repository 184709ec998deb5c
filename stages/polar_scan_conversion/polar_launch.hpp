// Launches of the polar scan conversion on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "stages/polar_scan_conversion/polar_math.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform::polar {

inline constexpr std::uint32_t tile_threads = tile_columns * tile_rows / 4;

/// Index of a pixel's place along the beam in the table of its tile, which has 2 * tile_columns * tile_rows numbers. The
/// place across beams follows it. Tables are in the order in which threads read them, 16 bytes at a time.
constexpr std::size_t table_index(std::uint32_t x, std::uint32_t z) {
  const std::uint32_t thread = (x / 8) * 32 + z * 2 + x / 4 % 2;
  const std::uint32_t pixel = x % 4;
  return (std::size_t{pixel / 2} * tile_threads + thread) * 4 + pixel % 2 * 2;
}

struct Conversion {
  const std::uint32_t* places = nullptr;  ///< tables of the tiles that have a pixel inside
  const std::uint32_t* tiles = nullptr;   ///< row << 16 | column of every tile; those with a pixel inside come first
  std::uint32_t tiles_inside = 0;
  std::uint32_t tile_count = 0;
  std::uint32_t rows = 0;  ///< of the output
  std::uint32_t columns = 0;
  std::uint32_t beams = 0;
  std::uint32_t samples = 0;
  std::uint32_t input_stride = 0;
  unsigned axial_bits = 0;
  unsigned lateral_bits = 0;
  float alpha = -0.5F;
};

void launch(const Conversion& conversion, ScanInterpolation how, const std::uint8_t* input, std::uint8_t* output,
            cudaStream_t stream);
void launch(const Conversion& conversion, ScanInterpolation how, const float* input, float* output, cudaStream_t stream);

}  // namespace echoform::polar
