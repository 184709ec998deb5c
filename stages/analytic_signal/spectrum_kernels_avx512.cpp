#include <immintrin.h>

#include <cstdint>

#include "stages/analytic_signal/spectrum_kernels.hpp"
#include "stages/analytic_signal/spectrum_kernels_loop.hpp"

namespace echoform {
namespace {

struct EightComplex {
  static constexpr std::size_t complexes = 8;
  using Real = __m512;

  static Real load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Real v) { _mm512_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm512_add_ps(a, b); }
  static Real subtract(Real a, Real b) { return _mm512_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm512_mul_ps(a, b); }
  static Real conjugate(Real v) {
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(v), _mm512_set1_epi64(std::int64_t{1} << 63)));
  }
  static Real swap(Real v) { return _mm512_permute_ps(v, 0xB1); }
  static Real re(Real v) { return _mm512_moveldup_ps(v); }
  static Real im(Real v) { return _mm512_movehdup_ps(v); }
  static Real reverse(Real v) {
    return _mm512_castpd_ps(_mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_castps_pd(v)));
  }
};

}  // namespace

void multiply_pairs_avx512(float* spectrum, const float* roots, const float* gains, std::size_t half) {
  multiply_pairs<EightComplex>(spectrum, roots, gains, half);
}

void filter_pairs_avx512(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half) {
  filter_pairs<EightComplex>(spectrum, product, factors, half);
}

}  // namespace echoform
