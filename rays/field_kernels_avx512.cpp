#include <immintrin.h>

#include "rays/field_kernels_loop.hpp"

namespace echoform::rays {
namespace {

struct Avx512 {
  static std::uint64_t bits_of(__m512 v) { return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ); }
  static std::uint64_t negative_bits(const float* p) {
    std::uint64_t bits = 0;
    for (unsigned n = 0; n < 64; n += 16) bits |= bits_of(_mm512_loadu_ps(p + n)) << n;
    return bits;
  }
  static std::uint64_t negative_bits(const float* a, const float* b) {
    std::uint64_t bits = 0;
    for (unsigned n = 0; n < 64; n += 16) bits |= bits_of(_mm512_add_ps(_mm512_loadu_ps(a + n), _mm512_loadu_ps(b + n))) << n;
    return bits;
  }
};

}  // namespace

const FieldKernels avx512_field_kernels = make_field_kernels<Avx512>();

}  // namespace echoform::rays
