// AVX2: eight ranges per vector; samples are gathered.
#include <immintrin.h>

#include "stages/scan_lines/complex_line_kernels_loop.hpp"
#include "stages/scan_lines/line_kernels_loop.hpp"

namespace echoform::scan_lines {
namespace {

struct Avx2 {
  static constexpr std::size_t lanes = 8;
  using Real = __m256;
  using Whole = __m256i;
  using Mask = __m256;

  static Real zero() { return _mm256_setzero_ps(); }
  static Real all(float value) { return _mm256_set1_ps(value); }
  static Real load(const float* p) { return _mm256_loadu_ps(p); }
  static Whole load(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static void store(float* p, Real v) { _mm256_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm256_add_ps(a, b); }
  static Whole add(Whole a, Whole b) { return _mm256_add_epi32(a, b); }
  static Real subtract(Real a, Real b) { return _mm256_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm256_mul_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm256_fmadd_ps(a, b, c); }
  static Real floor(Real a) { return _mm256_floor_ps(a); }
  static Real least(Real a, Real b) { return _mm256_min_ps(a, b); }
  static Whole to_whole(Real a) { return _mm256_cvttps_epi32(a); }
  static Mask within(Whole n, std::int32_t count) {
    const Whole above = _mm256_cmpgt_epi32(n, _mm256_set1_epi32(-1));
    return _mm256_castsi256_ps(_mm256_and_si256(above, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), n)));
  }
  static bool none(Mask mask) { return _mm256_movemask_ps(mask) == 0; }
  static Real only(Mask mask, Real a) { return _mm256_and_ps(mask, a); }
  static Real root(Real square) { return _mm256_sqrt_ps(_mm256_max_ps(square, _mm256_set1_ps(1e-12F))); }
  static Real divide(Real a, Real b) { return _mm256_div_ps(a, b); }
  static Real from_sixteen(const float* values, Whole which) { return _mm256_i32gather_ps(values, which, 4); }
  static Mask above_zero(Real a) { return _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_GT_OQ); }
  static Real choose(Mask mask, Real a, Real b) { return _mm256_blendv_ps(b, a, mask); }
  static Real sign(Real a) {
    const Real other = _mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_NEQ_OQ);
    return _mm256_and_ps(other, _mm256_or_ps(_mm256_set1_ps(1.0F), _mm256_and_ps(a, _mm256_set1_ps(-0.0F))));
  }
  static Real signed_root(Real a) {
    const Real bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_sqrt_ps(_mm256_andnot_ps(bit, a)), _mm256_and_ps(a, bit));
  }

  /// Picks entries n of rows where `inside` holds; elsewhere the values are 0.
  class Picker {
   public:
    Picker(Whole n, Mask inside) : place_(n), inside_(inside) {}
    [[nodiscard]] Real pick(const float* row) const {
      return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), row, place_, inside_, 4);
    }
    void pick_both(const float* row, Real& first, Real& second) const {
      first = pick(row);
      second = pick(row + 1);
    }

   private:
    Whole place_;
    Mask inside_;
  };
};

}  // namespace

PhasesKernel phases_kernel_avx2() {
  return &make_phases<Avx2>;
}

LineKernels line_kernels_avx2(ChannelSums sums) {
  return make_line_kernels<Avx2>(sums);
}

ComplexLineKernels complex_line_kernels_avx2() {
  return make_complex_line_kernels<Avx2>();
}

}  // namespace echoform::scan_lines
