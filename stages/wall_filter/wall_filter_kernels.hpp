// The loops of the wall filter: pieces of ranges, samples of an ensemble one below the other.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Ranges of a piece: as many of 16 samples as fit a first cache twice.
inline constexpr std::size_t wall_filter_piece = 128;

/// One piece of one line. Rows of samples are wall_filter_piece long, those of the output `out_stride` apart; I and Q apart.
struct WallFilterTask {
  const float* re = nullptr;  ///< [n][range]
  const float* im = nullptr;
  const float* matrix_re = nullptr;  ///< [m][n]
  const float* matrix_im = nullptr;  ///< null: all 0
  std::size_t ensemble = 0;
  std::size_t filtered = 0;
  float* out = nullptr;        ///< I of output 0; its Q lies `quadrature` on
  std::size_t quadrature = 0;  ///< in floats
  std::size_t out_stride = 0;  ///< from an output to the next, in floats
  std::size_t count = 0;       ///< ranges of the piece that are there, at most wall_filter_piece
};

/// All levels give the same bits.
using WallFilterKernel = void (*)(const WallFilterTask& task);
[[nodiscard]] WallFilterKernel wall_filter_kernel(SimdLevel level);
void wall_filter_portable(const WallFilterTask& task);
void wall_filter_avx2(const WallFilterTask& task);
void wall_filter_avx512(const WallFilterTask& task);

}  // namespace echoform
