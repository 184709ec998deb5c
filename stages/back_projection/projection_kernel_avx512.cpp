// AVX-512: sixteen voxels a vector. Where they are so close that their samples lie within 32 or 64 of each other, these are read
// into registers and picked from by two-table permutes; else they are gathered.
#include <immintrin.h>

#include "stages/back_projection/projection_loop.hpp"

namespace echoform::projection {
namespace {

enum class Window : int { gather = 0, narrow = 32, wide = 64 };

// All lanes: g++ 12 takes what intrinsics without a mask leave undefined for uses of uninitialised variables.
constexpr __mmask16 every = 0xFFFF;

/// Lanes on the lower side of the one in the middle.
constexpr float lanes_below = 8.0F;
/// What rounding may move a time by.
constexpr float margin = 0.01F;

struct SixteenLanes {
  static constexpr std::size_t lanes = 16;
  using Real = __m512;

  static Real all(float v) { return _mm512_set1_ps(v); }
  static Real load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Real v) { _mm512_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm512_add_ps(a, b); }
  static Real subtract(Real a, Real b) { return _mm512_sub_ps(a, b); }
  static Real multiply(Real a, Real b) { return _mm512_mul_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm512_fmadd_ps(a, b, c); }
  static Real greater(Real a, Real b) { return _mm512_maskz_max_ps(every, a, b); }
  /// The estimate of 14 bits and a step of Newton's: to 2^-23.
  static Real inverse_root(Real v) {
    const Real r = _mm512_maskz_rsqrt14_ps(every, v);
    const Real half = _mm512_mul_ps(_mm512_mul_ps(v, r), _mm512_set1_ps(0.5F));
    return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(half, r, _mm512_set1_ps(0.5F)), r);
  }
  static Real where_at_least(Real value, Real least, Real kept) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(value, least, _CMP_GE_OQ), kept);
  }
  /// As part_inside().
  static Real inside(Real ee, Real se, float ss) {
    const Real zero = _mm512_setzero_ps();
    const Real discriminant = _mm512_fnmadd_ps(ee, all(ss - 1.0F), _mm512_mul_ps(se, se));
    const Real root = _mm512_maskz_sqrt_ps(every, _mm512_maskz_max_ps(every, discriminant, zero));
    const Real back = _mm512_sub_ps(zero, se);
    const Real from = _mm512_maskz_max_ps(every, _mm512_div_ps(_mm512_sub_ps(back, root), ee), zero);
    const Real to = _mm512_maskz_min_ps(every, _mm512_div_ps(_mm512_add_ps(back, root), ee), all(1.0F));
    const Real part = _mm512_maskz_max_ps(every, _mm512_sub_ps(to, from), zero);
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(discriminant, zero, _CMP_GT_OQ), part);
  }

  struct Lookup {
    Real last;
    float below;   ///< samples from the middle lane to the earliest that any may look up
    float narrow;  ///< the last places where windows may begin
    float wide;
    explicit Lookup(const Call& call)
        : last(all(call.last)),
          below(lanes_below * call.spacing + margin),
          narrow(static_cast<float>(call.stride) - static_cast<float>(Window::narrow)),
          wide(static_cast<float>(call.stride) - static_cast<float>(Window::wide)) {}
  };
  template <Window window>
  static Real sample(const float* row, Real u, const Lookup& lookup) {
    const Real zero = _mm512_setzero_ps();
    const __mmask16 held = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(u, zero, _CMP_GE_OQ), u, lookup.last, _CMP_LT_OQ);
    const __m512i n = _mm512_cvttps_epi32(u);
    const Real f = _mm512_sub_ps(u, _mm512_cvtepi32_ps(n));
    Real s0;
    Real s1;
    if constexpr (window == Window::gather) {
      s0 = _mm512_mask_i32gather_ps(zero, held, n, row, 4);
      s1 = _mm512_mask_i32gather_ps(zero, held, n, row + 1, 4);
    } else {
      // A step along the lanes moves the time by no more than its length.
      const float middle = _mm_cvtss_f32(_mm512_maskz_extractf32x4_ps(0xF, u, 2));
      const float most = window == Window::wide ? lookup.wide : lookup.narrow;
      const float lowest = std::min(std::max(0.0F, middle - lookup.below), most);
      const int base = static_cast<int>(lowest);
      const float* const from = row + base;
      const __m512i place = _mm512_sub_epi32(n, _mm512_set1_epi32(base));
      const __m512i next = _mm512_add_epi32(place, _mm512_set1_epi32(1));
      Real w0 = _mm512_loadu_ps(from);
      Real w1 = _mm512_loadu_ps(from + 16);
      s0 = _mm512_permutex2var_ps(w0, place, w1);
      s1 = _mm512_permutex2var_ps(w0, next, w1);
      if constexpr (window == Window::wide) {
        Real w2 = _mm512_loadu_ps(from + 32);
        Real w3 = _mm512_loadu_ps(from + 48);
        const __m512i bit = _mm512_set1_epi32(32);
        s0 = _mm512_mask_blend_ps(_mm512_test_epi32_mask(place, bit), s0, _mm512_permutex2var_ps(w2, place, w3));
        s1 = _mm512_mask_blend_ps(_mm512_test_epi32_mask(next, bit), s1, _mm512_permutex2var_ps(w2, next, w3));
      }
    }
    return _mm512_maskz_mov_ps(held, _mm512_fmadd_ps(f, _mm512_sub_ps(s1, s0), s0));
  }
};

/// Of times that change by at most `spacing` from lane to lane, what of a row sixteen lanes may look up, rounded out.
bool within(const Call& call, Window window) {
  const float samples = 15.0F * call.spacing + 2.0F * margin + 3.0F;
  return samples <= static_cast<float>(window) && call.stride >= static_cast<std::size_t>(window);
}

template <bool plain>
void project_by_window(const Call& call, Tile& tile) {
  // Rays through an inclusion of slow sound may change by more.
  if (call.inclusion == nullptr && within(call, Window::narrow)) {
    return project_by_law<SixteenLanes, plain, Window::narrow>(call, tile);
  }
  if (call.inclusion == nullptr && within(call, Window::wide)) {
    return project_by_law<SixteenLanes, plain, Window::wide>(call, tile);
  }
  project_by_law<SixteenLanes, plain, Window::gather>(call, tile);
}

}  // namespace

void project_avx512(const Call& call, Tile& tile) {
  call.plain() ? project_by_window<true>(call, tile) : project_by_window<false>(call, tile);
}

}  // namespace echoform::projection
