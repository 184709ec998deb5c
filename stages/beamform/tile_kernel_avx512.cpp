// AVX-512: sixteen pixels per vector. Windows of 32 or 64 samples stay in registers, from which two-table permutes pick samples.
#include <immintrin.h>

#include "stages/beamform/tile_kernel_loop.hpp"

namespace echoform::beamform {
namespace {

struct Avx512 {
  static constexpr std::uint32_t lanes = 16;
  using Real = __m512;

  static Real zero() { return _mm512_setzero_ps(); }
  static Real load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Real v) { _mm512_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm512_add_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm512_fmadd_ps(a, b, c); }

  /// Holds a window in registers. The compiler would load it again for every permute, as if that were free. But each of these
  /// loads straddles two cache lines, and their number limits the speed of the loop (measured: 15 % faster so).
  static void keep(Real& a, Real& b) { asm("" : "+v"(a), "+v"(b)); }

  /// Picks n and (linear) n + 1 for every lane from the samples at `p`.
  template <Window window, bool linear>
  static void pick(const float* p, __m512i n, __m512i n1, Real& s0, Real& s1) {
    if constexpr (window == Window::gather) {
      s0 = _mm512_i32gather_ps(n, p, 4);
      if constexpr (linear) s1 = _mm512_i32gather_ps(n1, p, 4);
    } else {
      Real w0 = _mm512_loadu_ps(p);
      Real w1 = _mm512_loadu_ps(p + 16);
      keep(w0, w1);
      s0 = _mm512_permutex2var_ps(w0, n, w1);
      if constexpr (linear) s1 = _mm512_permutex2var_ps(w0, n1, w1);
      if constexpr (window == Window::wide) {
        Real w2 = _mm512_loadu_ps(p + 32);
        Real w3 = _mm512_loadu_ps(p + 48);
        keep(w2, w3);
        const __m512i bit = _mm512_set1_epi32(32);
        s0 = _mm512_mask_blend_ps(_mm512_test_epi32_mask(n, bit), s0, _mm512_permutex2var_ps(w2, n, w3));
        if constexpr (linear) s1 = _mm512_mask_blend_ps(_mm512_test_epi32_mask(n1, bit), s1, _mm512_permutex2var_ps(w2, n1, w3));
      }
    }
  }

  template <Window window, bool linear, bool weighted>
  static void lookup(const float* row, std::uint64_t quadrature, Real t, Real w, Real& sum_in_phase, Real& sum_quadrature) {
    const Real shifted = linear ? t : _mm512_add_ps(t, _mm512_set1_ps(0.5F));
    const __m512i n = _mm512_cvttps_epi32(shifted);
    const __m512i n1 = _mm512_add_epi32(n, _mm512_set1_epi32(1));
    Real i0;
    Real i1;
    Real q0;
    Real q1;
    pick<window, linear>(row, n, n1, i0, i1);
    pick<window, linear>(row + quadrature, n, n1, q0, q1);
    if constexpr (linear) {
      const Real f = _mm512_reduce_ps(shifted, 0x09);  // shifted - floor(shifted)
      const Real g1 = weighted ? _mm512_mul_ps(f, w) : f;
      const Real g0 = weighted ? _mm512_sub_ps(w, g1) : _mm512_sub_ps(_mm512_set1_ps(1.0F), f);
      sum_in_phase = _mm512_fmadd_ps(g1, i1, _mm512_fmadd_ps(g0, i0, sum_in_phase));
      sum_quadrature = _mm512_fmadd_ps(g1, q1, _mm512_fmadd_ps(g0, q0, sum_quadrature));
    } else if constexpr (weighted) {
      sum_in_phase = _mm512_fmadd_ps(w, i0, sum_in_phase);
      sum_quadrature = _mm512_fmadd_ps(w, q0, sum_quadrature);
    } else {
      sum_in_phase = _mm512_add_ps(i0, sum_in_phase);
      sum_quadrature = _mm512_add_ps(q0, sum_quadrature);
    }
  }
};

}  // namespace

// KernelSet for windows of 32 and 64 samples.
const KernelSet avx512_kernels = make_kernel_set<Avx512>("avx512", 30, 62);

}  // namespace echoform::beamform
