// AVX-512: sixteen voxels per vector. Where voxels are so close that their samples lie within 32 or 64 of each other, the samples
// are read into registers and picked from there by two-table permutes. Elsewhere they are gathered.
//
// Which windows are long enough. Let s be the spacing of lanes in samples, u the time of a lane in the record, and L the last
// sample of the record; lanes with 0 <= u < L count. Lanes are at places along one axis and see a detector at the distance
// sqrt(a^2 + b^2), where a is the part along the axis and b is the same for all lanes. A step of s changes the distance by at
// most s. The minimum distance is that of the lane with the minimum |a|, whose time is m. So, rounding apart, m <= u <= m + 15 s:
// from the minimum to the maximum there are at most 15 steps, wherever the detector is. (From a lane in the middle there would be
// eight steps to one side and seven to the other, and which side is which depends on the detector: a window from that lane on
// needs 16.)
// Let e be the change of a difference of two times by rounding. The window begins at the base B = floor(m - e), within the
// record, and samples floor(u) and floor(u) + 1 are picked:
//   floor(u) >= B, since u >= m - e >= B and B is whole;
//   floor(u) + 1 - B < (m + 15 s + e + 1) - (m - e - 1) = 15 s + 2 e + 2, so it is at most W - 1 if 15 s + 2 e + 2 <= W.
// No lane that counts is earlier than 0, nor than -start, the time of the place of a detector itself. Where m - e is earlier or
// is NaN, B is the floor of the later of these two, and both inequalities hold as well. Where the window would end behind the
// row, B = row - W is earlier than m - e, and floor(u) + 1 <= L <= row - 1 is picked from it too.
//
// What e is. A distance D has an error of 2^-22 D at most. Its square is the sum of a rounded square and of a number that all
// lanes share, with an error of 2^-23, half of which passes to the root. The estimate of the inverse has an error of 2^-23, and
// the product of 2^-24. A time is rounded once more. Distances of lanes that count are below L + start; places are rounded to
// 2^-24 of the greatest, and so is the spacing. Together the errors are below 2^-21 of each of these numbers, for two lanes; e is
// twice that.
#include <immintrin.h>

#include "stages/back_projection/projection_loop.hpp"

namespace echoform::projection {
namespace {

enum class Window : int { gather = 0, narrow = 32, wide = 64 };

// All lanes. g++ 12 treats the undefined values in intrinsics without a mask as uses of uninitialised variables.
constexpr __mmask16 every = 0xFFFF;

/// The e of the proof above.
float margin_of(const Call& call) {
  return 0x1p-20F * (std::max(call.last, call.last + call.start) + call.reach);
}
/// Number of samples of a row whose indices single precision represents exactly.
float samples_of(const Call& call) {
  return static_cast<float>(std::min(call.stride, std::size_t{1} << 24));
}

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
  /// The estimate has 14 bits; after one Newton step the relative error is 2^-23.
  static Real inverse_root(Real v) {
    const Real r = _mm512_maskz_rsqrt14_ps(every, v);
    const Real half = _mm512_mul_ps(_mm512_mul_ps(v, r), _mm512_set1_ps(0.5F));
    return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(half, r, _mm512_set1_ps(0.5F)), r);
  }
  static Real where_at_least(Real value, Real least, Real kept) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(value, least, _CMP_GE_OQ), kept);
  }
  /// The same as part_inside().
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
    float margin;
    float least;   ///< no lane that counts has an earlier time, nor has a lane on the detector, whose time is NaN
    float narrow;  ///< the last place where a window of this size may begin
    float wide;
    explicit Lookup(const Call& call)
        : last(all(call.last)),
          margin(margin_of(call)),
          least(std::max(0.0F, -call.start)),
          narrow(samples_of(call) - static_cast<float>(Window::narrow)),
          wide(samples_of(call) - static_cast<float>(Window::wide)) {}
  };
  /// The lane that is nearest to a detector.
  struct Nearest {
    __m512i lane;
    explicit Nearest(Real along) {
      const Real away = _mm512_abs_ps(along);
      const unsigned nearest = _mm512_cmp_ps_mask(away, all(_mm512_reduce_min_ps(away)), _CMP_EQ_OQ);
      // If places are NaN, this gives an arbitrary lane.
      lane = _mm512_set1_epi32(__builtin_ctz(nearest | 0x8000U));
    }
  };
  template <Window window>
  static Real sample(const float* row, Real u, const Lookup& lookup, const Nearest& nearest) {
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
      const float first = _mm512_cvtss_f32(_mm512_maskz_permutexvar_ps(every, nearest.lane, u));
      const float most = window == Window::wide ? lookup.wide : lookup.narrow;
      // In this order, a NaN time gives the minimum.
      const float lowest = std::min(std::max(lookup.least, first - lookup.margin), most);
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

/// Whether a window holds the samples that sixteen lanes look up, by the proof above.
bool within(const Call& call, Window window) {
  const float samples = 15.0F * call.spacing + 2.0F * margin_of(call) + 2.0F;
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
