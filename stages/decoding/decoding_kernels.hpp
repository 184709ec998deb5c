// The loops of decoding, on pieces of rows that a cache holds.
#pragma once

#include <cstddef>

#include "cpu/cpu_backend.hpp"

namespace echoform {

/// Rows of floats at a distance of `pitch`; `width` of each are worked on, a multiple of 32. Aligned to 64 bytes.
struct RowPiece {
  float* rows = nullptr;
  std::size_t pitch = 0;
  std::size_t width = 0;
};

struct DecodingKernels {
  /// decoded[i][n] = sum over k < events of matrix[i][k] * received[k][n], added in the order of k, for i < elements, a multiple
  /// of product_rows. The matrix lies in blocks of product_rows rows, by column: its number (i, k) at
  /// [i / product_rows][k][i % product_rows]. Multiply and add are fused with AVX2 and AVX-512 and not without.
  void (*product)(const float* matrix, std::size_t elements, std::size_t events, const RowPiece& received,
                  const RowPiece& decoded);
  /// rows[c][n] = sum over k of (-1)^popcount(c & k) * rows[k][n], in place; `count` is a power of two. All levels give the
  /// same bits.
  void (*walsh_hadamard)(const RowPiece& rows, std::size_t count);
  /// to[n] = scale * from[n], past the caches where `streaming`.
  void (*put)(const float* from, float* to, std::size_t count, float scale, bool streaming);
  /// to[n] = scale * (a[n] + b[n]), likewise.
  void (*put_sum)(const float* a, const float* b, float* to, std::size_t count, float scale, bool streaming);
};

[[nodiscard]] DecodingKernels decoding_kernels(SimdLevel level);

[[nodiscard]] DecodingKernels decoding_kernels_portable();
[[nodiscard]] DecodingKernels decoding_kernels_avx2();
[[nodiscard]] DecodingKernels decoding_kernels_avx512();

}  // namespace echoform
