#include <immintrin.h>

#include "stages/polar_scan_conversion/polar_kernels.hpp"

namespace echoform::polar {
namespace {

void gather_words(const std::uint8_t* bytes, const std::int32_t* offsets, std::uint32_t* words) {
  for (std::size_t n = 0; n < group; n += 8) {
    const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(offsets + n));
    _mm256_store_si256(reinterpret_cast<__m256i*>(words + n), _mm256_i32gather_epi32(reinterpret_cast<const int*>(bytes), at, 1));
  }
}

}  // namespace
}  // namespace echoform::polar

#include "stages/polar_scan_conversion/polar_kernels_body.hpp"

namespace echoform::polar {

Kernels kernels_avx2() {
  return kernels();
}

}  // namespace echoform::polar
