#include <immintrin.h>

#include "stages/analytic_signal/spectrum_kernels.hpp"
#include "stages/analytic_signal/spectrum_kernels_loop.hpp"

namespace echoform {
namespace {

struct FourComplex {
  static constexpr std::size_t complexes = 4;
  using Real = __m256;

  static Real load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Real v) { _mm256_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm256_add_ps(a, b); }
  static Real subtract(Real a, Real b) { return _mm256_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm256_mul_ps(a, b); }
  static Real conjugate(Real v) { return _mm256_xor_ps(v, _mm256_setr_ps(0, -0.0F, 0, -0.0F, 0, -0.0F, 0, -0.0F)); }
  static Real swap(Real v) { return _mm256_permute_ps(v, 0xB1); }
  static Real re(Real v) { return _mm256_moveldup_ps(v); }
  static Real im(Real v) { return _mm256_movehdup_ps(v); }
  static Real reverse(Real v) { return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0x1B)); }
};

}  // namespace

void multiply_pairs_avx2(float* spectrum, const float* roots, const float* gains, std::size_t half) {
  multiply_pairs<FourComplex>(spectrum, roots, gains, half);
}

void filter_pairs_avx2(const float* spectrum, float* product, const ResponseFactors& factors, std::size_t half) {
  filter_pairs<FourComplex>(spectrum, product, factors, half);
}

}  // namespace echoform
