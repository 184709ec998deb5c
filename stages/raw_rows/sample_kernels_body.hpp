// The loops of sample_kernels.hpp, included once by each translation unit that is built for an instruction set. They are
// written for the compiler's vectoriser; only the shuffle of packed samples is spelled out.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <string.h>

#include "stages/raw_rows/sample_kernels.hpp"
#include "stages/raw_rows/sample_math.hpp"

namespace echoform {
namespace {

// Rows go through pieces that stay in the first-level cache: even, so that packed pieces start on a byte.
constexpr std::size_t piece = 512;

/// `samples` packed numbers from `bytes`, which holds (3 * samples + 1) / 2 bytes.
void decode12(const std::uint8_t* bytes, std::int16_t* out, std::size_t samples) {
  std::size_t n = 0;
#if defined(__AVX2__)
  // 16 samples are 24 bytes; the second load reads 4 bytes beyond them, hence the bound. A 16-bit lane gets the two bytes
  // that hold its sample: an even one sits in the low 12 bits, an odd one in the high 12.
  const __m256i places = _mm256_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11,  //
                                          0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11);
  const __m256i shift = _mm256_set1_epi32(0x00010010);
  for (; n + 20 <= samples; n += 16) {
    const std::uint8_t* from = bytes + n / 2 * 3;
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 12));
    const __m256i pairs = _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), places);
    const __m256i values = _mm256_srai_epi16(_mm256_mullo_epi16(pairs, shift), 4);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + n), values);
  }
#endif
  for (; n + 2 <= samples; n += 2) {
    out[n] = static_cast<std::int16_t>(even_sample12(bytes + n / 2 * 3));
    out[n + 1] = static_cast<std::int16_t>(odd_sample12(bytes + n / 2 * 3));
  }
  if (n < samples) out[n] = static_cast<std::int16_t>(even_sample12(bytes + n / 2 * 3));
}

/// `count` (at most `piece`) floats from the first-level cache to `out`.
template <RowStore Store>
void store_piece(const float* values, float* out, std::size_t count) {
  std::size_t n = 0;
#if defined(__AVX512F__)
  if constexpr (Store == RowStore::streaming) {
    if (reinterpret_cast<std::uintptr_t>(out) % 64 == 0) {
      for (; n + 16 <= count; n += 16) _mm512_stream_ps(out + n, _mm512_loadu_ps(values + n));
    }
  }
#elif defined(__SSE2__)
  if constexpr (Store == RowStore::streaming) {
    if (reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      for (; n + 4 <= count; n += 4) _mm_stream_ps(out + n, _mm_loadu_ps(values + n));
    }
  }
#endif
  memcpy(out + n, values + n, (count - n) * sizeof(float));
}

/// Converts one piece and returns how many samples sit at an end of the range.
template <int Lowest, int Highest, bool Sum>
std::uint32_t convert_piece(const std::int16_t* first, const std::int16_t* second, float* out, std::size_t count, float weight) {
  std::uint32_t clipped = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const int a = first[n];
    clipped += static_cast<std::uint32_t>(a == Lowest) + static_cast<std::uint32_t>(a == Highest);
    if constexpr (Sum) {
      const int b = second[n];
      clipped += static_cast<std::uint32_t>(b == Lowest) + static_cast<std::uint32_t>(b == Highest);
      out[n] = static_cast<float>(a + b) * weight;
    } else {
      out[n] = static_cast<float>(a) * weight;
    }
  }
  return clipped;
}

/// The value of a float sample given by its bits; 0 for invalid ones, which are counted.
ECHOFORM_HOST_DEVICE float valid_or_zero(std::uint32_t bits, std::uint32_t least, std::uint32_t& invalid) {
  const bool bad = is_invalid_sample(bits, least);
  invalid += static_cast<std::uint32_t>(bad);
  return __builtin_bit_cast(float, bad ? 0u : bits);
}

template <bool Sum>
std::uint32_t convert_piece(const std::uint32_t* first, const std::uint32_t* second, float* out, std::size_t count,
                            float weight) {
  const std::uint32_t least = least_invalid_sample(weight);
  std::uint32_t invalid = 0;
  for (std::size_t n = 0; n < count; ++n) {
    float value = valid_or_zero(first[n], least, invalid);
    if constexpr (Sum) value += valid_or_zero(second[n], least, invalid);
    out[n] = value * weight;
  }
  return invalid;
}

template <SampleEncoding Encoding, RowStore Store, bool Sum>
void convert_row(const void* first, const void* second, float* out, std::size_t samples, float weight, SampleQuality& quality) {
  alignas(64) float values[piece];
  for (std::size_t start = 0; start < samples; start += piece) {
    const std::size_t count = samples - start < piece ? samples - start : piece;
    float* const target = Store == RowStore::cached ? out + start : values;
    if constexpr (Encoding == SampleEncoding::float32) {
      quality.invalid +=
          convert_piece<Sum>(static_cast<const std::uint32_t*>(first) + start,
                             Sum ? static_cast<const std::uint32_t*>(second) + start : nullptr, target, count, weight);
    } else if constexpr (Encoding == SampleEncoding::int16) {
      quality.clipped += convert_piece<int16_lowest, int16_highest, Sum>(
          static_cast<const std::int16_t*>(first) + start, Sum ? static_cast<const std::int16_t*>(second) + start : nullptr,
          target, count, weight);
    } else {
      alignas(64) std::int16_t a[piece];
      alignas(64) std::int16_t b[piece];
      decode12(static_cast<const std::uint8_t*>(first) + start / 2 * 3, a, count);
      if constexpr (Sum) decode12(static_cast<const std::uint8_t*>(second) + start / 2 * 3, b, count);
      quality.clipped += convert_piece<packed12_lowest, packed12_highest, Sum>(a, b, target, count, weight);
    }
    if constexpr (Store == RowStore::streaming) store_piece<Store>(values, out + start, count);
  }
#if defined(__SSE2__)
  // Streaming stores are weakly ordered; the next stage may read the row from another thread.
  if constexpr (Store == RowStore::streaming) _mm_sfence();
#endif
}

template <SampleEncoding Encoding, RowStore Store>
void row(const void* first, const void* second, float* out, std::size_t samples, float weight, SampleQuality& quality) {
  if (second != nullptr) {
    convert_row<Encoding, Store, true>(first, second, out, samples, weight, quality);
  } else {
    convert_row<Encoding, Store, false>(first, second, out, samples, weight, quality);
  }
}

template <RowStore Store>
RowKernel choose(SampleEncoding encoding) {
  switch (encoding) {
    case SampleEncoding::int16:
      return &row<SampleEncoding::int16, Store>;
    case SampleEncoding::packed12:
      return &row<SampleEncoding::packed12, Store>;
    case SampleEncoding::float32:
      return &row<SampleEncoding::float32, Store>;
  }
  return nullptr;
}

RowKernel choose(SampleEncoding encoding, RowStore store) {
  return store == RowStore::streaming ? choose<RowStore::streaming>(encoding) : choose<RowStore::cached>(encoding);
}

}  // namespace
}  // namespace echoform
