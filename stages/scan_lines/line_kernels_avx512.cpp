// AVX-512: sixteen ranges per vector. Neighbouring ranges usually lie less than a sample apart, so that their samples are
// selected from 32 consecutive ones by two-table permutes. Elsewhere they are gathered.
#include <immintrin.h>

#include "stages/scan_lines/complex_line_kernels_loop.hpp"
#include "stages/scan_lines/line_kernels_loop.hpp"

namespace echoform::scan_lines {
namespace {

struct Avx512 {
  static constexpr std::size_t lanes = 16;
  using Real = __m512;
  using Whole = __m512i;
  using Mask = __mmask16;

  static Real zero() { return _mm512_setzero_ps(); }
  static Real all(float value) { return _mm512_set1_ps(value); }
  static Real load(const float* p) { return _mm512_loadu_ps(p); }
  static Whole load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static void store(float* p, Real v) { _mm512_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm512_add_ps(a, b); }
  static Whole add(Whole a, Whole b) { return _mm512_add_epi32(a, b); }
  static Real subtract(Real a, Real b) { return _mm512_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm512_mul_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm512_fmadd_ps(a, b, c); }
  static Real floor(Real a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
  static Real least(Real a, Real b) { return _mm512_min_ps(a, b); }
  static Whole to_whole(Real a) { return _mm512_cvttps_epi32(a); }
  static Mask within(Whole n, std::int32_t count) { return _mm512_cmplt_epu32_mask(n, _mm512_set1_epi32(count)); }
  static bool none(Mask mask) { return mask == 0; }
  static Real only(Mask mask, Real a) { return _mm512_maskz_mov_ps(mask, a); }

  /// Estimates, each with one Newton step, have an error of at most 1e-7 and take half the time of the exact instructions.
  static Real root(Real square) {
    const Real a = _mm512_max_ps(square, _mm512_set1_ps(1e-12F));
    const Real y = _mm512_rsqrt14_ps(a);
    const Real root = _mm512_mul_ps(a, y);
    const Real off = _mm512_fnmadd_ps(root, y, _mm512_set1_ps(1.0F));
    return _mm512_fmadd_ps(_mm512_mul_ps(root, _mm512_set1_ps(0.5F)), off, root);
  }
  static Real divide(Real a, Real b) {
    const Real y = _mm512_rcp14_ps(b);
    const Real quotient = _mm512_mul_ps(a, y);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, b, a), y, quotient);
  }
  static Real from_sixteen(const float* values, Whole which) { return _mm512_permutexvar_ps(which, _mm512_load_ps(values)); }
  static Mask above_zero(Real a) { return _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ); }
  static Real choose(Mask mask, Real a, Real b) { return _mm512_mask_mov_ps(b, mask, a); }
  static Real sign(Real a) {
    const Real one = _mm512_or_ps(_mm512_set1_ps(1.0F), _mm512_and_ps(a, _mm512_set1_ps(-0.0F)));
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_NEQ_OQ), one);
  }
  /// The root by an estimate as above; 0 where `a` is not a normal number.
  static Real signed_root(Real a) {
    const Real size = _mm512_abs_ps(a);
    const Real y = _mm512_maskz_rsqrt14_ps(_mm512_cmp_ps_mask(size, _mm512_set1_ps(1.2e-38F), _CMP_GE_OQ), size);
    const Real root = _mm512_mul_ps(size, y);
    const Real off = _mm512_fnmadd_ps(root, y, _mm512_set1_ps(1.0F));
    const Real exact = _mm512_fmadd_ps(_mm512_mul_ps(root, _mm512_set1_ps(0.5F)), off, root);
    return _mm512_or_ps(exact, _mm512_and_ps(a, _mm512_set1_ps(-0.0F)));
  }

  /// Picks entries n of rows that lie within 29 of the first, and at most 1 before it: numbers 0 to 30 of a window of 32 that
  /// begins 1 before the first, and their neighbours up to 31. The entries of sixteen ranges of a steady block (LineTask::steady)
  /// lie like this. From the first to the last place there are 15 steps of at most 1.89 and at least -0.01 samples
  /// (moves_steadily() in line_tables.cpp), 28.35 and -0.15 in all. So two floors differ by at most 29 and at least -1. The
  /// polynomial's 1e-5 and rounding stay far below the remaining margin.
  class SteadyPicker {
   public:
    explicit SteadyPicker(Whole n)
        : first_(_mm_cvtsi128_si32(_mm512_castsi512_si128(n)) - 1), place_(_mm512_sub_epi32(n, _mm512_set1_epi32(first_))) {}
    [[nodiscard]] Real pick(const float* row) const {
      const float* const from = row + first_;
      return _mm512_permutex2var_ps(_mm512_loadu_ps(from), place_, _mm512_loadu_ps(from + 16));
    }
    /// Picks these entries and those behind them.
    void pick_both(const float* row, Real& first, Real& second) const {
      const Real low = _mm512_loadu_ps(row + first_);
      const Real high = _mm512_loadu_ps(row + first_ + 16);
      first = _mm512_permutex2var_ps(low, place_, high);
      second = _mm512_permutex2var_ps(low, _mm512_add_epi32(place_, _mm512_set1_epi32(1)), high);
    }

   private:
    std::int32_t first_;
    Whole place_;
  };

  /// Picks entries n of rows where `inside` holds; elsewhere the values are arbitrary.
  class Picker {
   public:
    Picker(Whole n, Mask inside)
        : first_(_mm_cvtsi128_si32(_mm512_castsi512_si128(n))),
          place_(_mm512_sub_epi32(n, _mm512_set1_epi32(first_))),
          inside_(inside),
          near_((inside & ~_mm512_cmplt_epu32_mask(place_, _mm512_set1_epi32(32))) == 0) {}

    [[nodiscard]] Real pick(const float* row) const {
      const float* const from = row + first_;
      if (near_) return _mm512_permutex2var_ps(_mm512_loadu_ps(from), place_, _mm512_loadu_ps(from + 16));
      return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside_, place_, from, 4);
    }
    void pick_both(const float* row, Real& first, Real& second) const {
      first = pick(row);
      second = pick(row + 1);
    }

   private:
    std::int32_t first_;
    Whole place_;
    Mask inside_;
    bool near_;
  };
};

}  // namespace

PhasesKernel phases_kernel_avx512() {
  return &make_phases<Avx512>;
}

LineKernels line_kernels_avx512(ChannelSums sums) {
  return make_line_kernels<Avx512>(sums);
}

ComplexLineKernels complex_line_kernels_avx512() {
  return make_complex_line_kernels<Avx512>();
}

}  // namespace echoform::scan_lines
