// AVX2: eight voxels per vector; samples are gathered.
#include <immintrin.h>

#include "stages/back_projection/projection_loop.hpp"

namespace echoform::projection {
namespace {

struct EightLanes {
  static constexpr std::size_t lanes = 8;
  using Real = __m256;

  static Real all(float v) { return _mm256_set1_ps(v); }
  static Real load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Real v) { _mm256_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm256_add_ps(a, b); }
  static Real subtract(Real a, Real b) { return _mm256_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm256_mul_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm256_fmadd_ps(a, b, c); }
  static Real greater(Real a, Real b) { return _mm256_max_ps(a, b); }
  /// The estimate has 12 bits; after one Newton step the relative error is 2^-22.
  static Real inverse_root(Real v) {
    const Real r = _mm256_rsqrt_ps(v);
    const Real half = _mm256_mul_ps(_mm256_mul_ps(v, r), _mm256_set1_ps(0.5F));
    return _mm256_fmadd_ps(r, _mm256_fnmadd_ps(half, r, _mm256_set1_ps(0.5F)), r);
  }
  static Real where_at_least(Real value, Real least, Real kept) {
    return _mm256_and_ps(_mm256_cmp_ps(value, least, _CMP_GE_OQ), kept);
  }
  /// The same as part_inside().
  static Real inside(Real ee, Real se, float ss) {
    const Real zero = _mm256_setzero_ps();
    const Real discriminant = _mm256_fnmadd_ps(ee, all(ss - 1.0F), _mm256_mul_ps(se, se));
    const Real root = _mm256_sqrt_ps(_mm256_max_ps(discriminant, zero));
    const Real back = _mm256_sub_ps(zero, se);
    const Real from = _mm256_max_ps(_mm256_div_ps(_mm256_sub_ps(back, root), ee), zero);
    const Real to = _mm256_min_ps(_mm256_div_ps(_mm256_add_ps(back, root), ee), all(1.0F));
    const Real part = _mm256_max_ps(_mm256_sub_ps(to, from), zero);
    return _mm256_and_ps(_mm256_cmp_ps(discriminant, zero, _CMP_GT_OQ), part);
  }

  struct Lookup {
    Real last;
    explicit Lookup(const Call& call) : last(all(call.last)) {}
  };
  struct Nearest {
    explicit Nearest(Real /*along*/) {}
  };
  template <int>
  static Real sample(const float* row, Real u, const Lookup& lookup, const Nearest& /*nearest*/) {
    const Real zero = _mm256_setzero_ps();
    const Real held = _mm256_and_ps(_mm256_cmp_ps(u, zero, _CMP_GE_OQ), _mm256_cmp_ps(u, lookup.last, _CMP_LT_OQ));
    const __m256i n = _mm256_cvttps_epi32(u);
    const Real f = _mm256_sub_ps(u, _mm256_cvtepi32_ps(n));
    const Real s0 = _mm256_mask_i32gather_ps(zero, row, n, held, 4);
    const Real s1 = _mm256_mask_i32gather_ps(zero, row + 1, n, held, 4);
    return _mm256_fmadd_ps(_mm256_and_ps(held, f), _mm256_sub_ps(s1, s0), s0);
  }
};

}  // namespace

void project_avx2(const Call& call, Tile& tile) {
  call.plain() ? project_by_law<EightLanes, true, 0>(call, tile) : project_by_law<EightLanes, false, 0>(call, tile);
}

}  // namespace echoform::projection
