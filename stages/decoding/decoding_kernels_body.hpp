// The loops of decoding_kernels.hpp, included once by each translation unit that is built for an instruction set.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <stdint.h>

#include "stages/decoding/decoding_kernels.hpp"

namespace echoform::decoding_loops {
namespace {

// A tile of a few elements by two vectors of samples stays in registers during the loop over events.
#if defined(__AVX512F__)
using Lanes = __m512;
constexpr std::size_t lane_count = 16;
constexpr std::size_t tile_rows = 8;
Lanes load(const float* from) {
  return _mm512_load_ps(from);
}
void store(Lanes lanes, float* to) {
  _mm512_store_ps(to, lanes);
}
void store_past_caches(Lanes lanes, float* to) {
  _mm512_stream_ps(to, lanes);
}
Lanes zeros() {
  return _mm512_setzero_ps();
}
Lanes multiply(float a, Lanes b) {
  return _mm512_mul_ps(_mm512_set1_ps(a), b);
}
Lanes multiply_add(float a, Lanes b, Lanes c) {
  return _mm512_fmadd_ps(_mm512_set1_ps(a), b, c);
}
#elif defined(__AVX2__)
using Lanes = __m256;
constexpr std::size_t lane_count = 8;
constexpr std::size_t tile_rows = 4;
Lanes load(const float* from) {
  return _mm256_load_ps(from);
}
void store(Lanes lanes, float* to) {
  _mm256_store_ps(to, lanes);
}
void store_past_caches(Lanes lanes, float* to) {
  _mm256_stream_ps(to, lanes);
}
Lanes zeros() {
  return _mm256_setzero_ps();
}
Lanes multiply(float a, Lanes b) {
  return _mm256_mul_ps(_mm256_set1_ps(a), b);
}
Lanes multiply_add(float a, Lanes b, Lanes c) {
  return _mm256_fmadd_ps(_mm256_set1_ps(a), b, c);
}
#else
using Lanes = float __attribute__((vector_size(16), may_alias));
constexpr std::size_t lane_count = 4;
constexpr std::size_t tile_rows = 4;
Lanes load(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}
void store(Lanes lanes, float* to) {
  *reinterpret_cast<Lanes*>(to) = lanes;
}
void store_past_caches(Lanes lanes, float* to) {
#if defined(__SSE2__)
  _mm_stream_ps(to, __m128(lanes));
#else
  store(lanes, to);
#endif
}
Lanes zeros() {
  return Lanes{};
}
Lanes multiply(float a, Lanes b) {
  return Lanes{a, a, a, a} * b;
}
Lanes multiply_add(float a, Lanes b, Lanes c) {
  return Lanes{a, a, a, a} * b + c;
}
#endif

constexpr std::size_t block_rows = 8;  // product_rows

/// tile_rows rows of the product, 2 * lane_count samples.
void product_tile(const float* matrix, std::size_t events, const float* received, std::size_t pitch, float* decoded,
                  std::size_t decoded_pitch) {
  Lanes sums[tile_rows][2];
  for (std::size_t row = 0; row < tile_rows; ++row) sums[row][0] = sums[row][1] = zeros();
  for (std::size_t event = 0; event < events; ++event) {
    const Lanes first = load(received);
    const Lanes second = load(received + lane_count);
    for (std::size_t row = 0; row < tile_rows; ++row) {
      sums[row][0] = multiply_add(matrix[row], first, sums[row][0]);
      sums[row][1] = multiply_add(matrix[row], second, sums[row][1]);
    }
    matrix += block_rows;
    received += pitch;
  }
  for (std::size_t row = 0; row < tile_rows; ++row) {
    store(sums[row][0], decoded + row * decoded_pitch);
    store(sums[row][1], decoded + row * decoded_pitch + lane_count);
  }
}

void product(const float* matrix, std::size_t elements, std::size_t events, const RowPiece& received, const RowPiece& decoded) {
  for (std::size_t n = 0; n < received.width; n += 2 * lane_count) {
    for (std::size_t element = 0; element < elements; element += tile_rows) {
      const float* const rows = matrix + element / block_rows * block_rows * events + element % block_rows;
      product_tile(rows, events, received.rows + n, received.pitch, decoded.rows + element * decoded.pitch + n, decoded.pitch);
    }
  }
}

void butterfly(float* __restrict a, float* __restrict b, std::size_t width) {
  for (std::size_t n = 0; n < width; ++n) {
    const float sum = a[n] + b[n];
    b[n] = a[n] - b[n];
    a[n] = sum;
  }
}

/// Two levels of butterflies: of a and b, c and d, then of a and c, b and d.
void butterflies(float* __restrict a, float* __restrict b, float* __restrict c, float* __restrict d, std::size_t width) {
  for (std::size_t n = 0; n < width; ++n) {
    const float ab = a[n] + b[n];
    const float a_b = a[n] - b[n];
    const float cd = c[n] + d[n];
    const float c_d = c[n] - d[n];
    a[n] = ab + cd;
    b[n] = a_b + c_d;
    c[n] = ab - cd;
    d[n] = a_b - c_d;
  }
}

void walsh_hadamard(const RowPiece& rows, std::size_t count) {
  std::size_t apart = 1;
  for (; 4 * apart <= count; apart *= 4) {
    const std::size_t step = apart * rows.pitch;
    for (std::size_t block = 0; block < count; block += 4 * apart) {
      for (std::size_t k = block; k < block + apart; ++k) {
        float* const first = rows.rows + k * rows.pitch;
        butterflies(first, first + step, first + 2 * step, first + 3 * step, rows.width);
      }
    }
  }
  if (apart == count) return;
  for (std::size_t k = 0; k < apart; ++k) {
    butterfly(rows.rows + k * rows.pitch, rows.rows + (k + apart) * rows.pitch, rows.width);
  }
}

void put(const float* __restrict from, float* __restrict to, std::size_t count, float scale, bool streaming) {
  std::size_t n = 0;
  if (streaming && reinterpret_cast<uintptr_t>(to) % sizeof(Lanes) == 0) {
    for (; n + lane_count <= count; n += lane_count) store_past_caches(multiply(scale, load(from + n)), to + n);
  }
  for (; n < count; ++n) to[n] = scale * from[n];
}

void put_sum(const float* __restrict a, const float* __restrict b, float* __restrict to, std::size_t count, float scale,
             bool streaming) {
  std::size_t n = 0;
  if (streaming && reinterpret_cast<uintptr_t>(to) % sizeof(Lanes) == 0) {
    for (; n + lane_count <= count; n += lane_count) {
      store_past_caches(multiply(scale, load(a + n) + load(b + n)), to + n);
    }
  }
  for (; n < count; ++n) to[n] = scale * (a[n] + b[n]);
}

DecodingKernels kernels_of_level() {
  return {&product, &walsh_hadamard, &put, &put_sum};
}

}  // namespace
}  // namespace echoform::decoding_loops
