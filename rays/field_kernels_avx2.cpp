#include <immintrin.h>

#include "rays/field_kernels_loop.hpp"

namespace echoform::rays {
namespace {

struct Avx2 {
  static std::uint64_t bits_of(__m256 v) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_LT_OQ)));
  }
  static std::uint64_t negative_bits(const float* p) {
    std::uint64_t bits = 0;
    for (unsigned n = 0; n < 64; n += 8) bits |= bits_of(_mm256_loadu_ps(p + n)) << n;
    return bits;
  }
  static std::uint64_t negative_bits(const float* a, const float* b) {
    std::uint64_t bits = 0;
    for (unsigned n = 0; n < 64; n += 8) bits |= bits_of(_mm256_add_ps(_mm256_loadu_ps(a + n), _mm256_loadu_ps(b + n))) << n;
    return bits;
  }
};

}  // namespace

const FieldKernels avx2_field_kernels = make_field_kernels<Avx2>();

}  // namespace echoform::rays
