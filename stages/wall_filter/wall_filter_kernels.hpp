// The loops of the wall filter over a piece of ranges. The samples of an ensemble are consecutive rows.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Number of ranges of a piece: ensembles of 16 samples fit twice into a first-level cache.
inline constexpr std::size_t wall_filter_piece = 128;

/// One piece of one line. Rows of samples are wall_filter_piece long, and rows of the output are `out_stride` apart. I and Q
/// are separate.
struct WallFilterTask {
  const float* re = nullptr;  ///< [n][range]
  const float* im = nullptr;
  const float* matrix_re = nullptr;  ///< [m][n]
  const float* matrix_im = nullptr;  ///< null: all 0
  std::size_t ensemble = 0;
  std::size_t filtered = 0;
  float* out = nullptr;        ///< I of output 0; Q follows after `quadrature` floats
  std::size_t quadrature = 0;  ///< in floats
  std::size_t out_stride = 0;  ///< from an output to the next, in floats
  std::size_t count = 0;       ///< valid ranges of the piece, at most wall_filter_piece
};

/// All levels give the same bits.
using WallFilterKernel = void (*)(const WallFilterTask& task);
[[nodiscard]] WallFilterKernel wall_filter_kernel(SimdLevel level);
void wall_filter_portable(const WallFilterTask& task);
void wall_filter_avx2(const WallFilterTask& task);
void wall_filter_avx512(const WallFilterTask& task);

}  // namespace echoform
