// AVX2: eight pixels per vector. The permute has eight entries, so a window of 16 samples takes two permutes and a blend; longer
// windows are gathered.
#include <immintrin.h>

#include "stages/beamform/tile_kernel_loop.hpp"

namespace echoform::beamform {
namespace {

struct Avx2 {
  static constexpr std::uint32_t lanes = 8;
  using Real = __m256;

  static Real zero() { return _mm256_setzero_ps(); }
  static Real load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Real v) { _mm256_storeu_ps(p, v); }
  static Real add(Real a, Real b) { return _mm256_add_ps(a, b); }
  static Real multiply_add(Real a, Real b, Real c) { return _mm256_fmadd_ps(a, b, c); }

  /// Holds a window in registers: the compiler would load it again for every permute, each load straddling cache lines.
  static void keep(Real& a, Real& b) { asm("" : "+x"(a), "+x"(b)); }

  /// Entry n mod 16 of the sixteen samples in `low` and `high`: bit 3 of n moves to the sign, by which the blend chooses.
  static Real pick16(Real low, Real high, __m256i n) {
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, n), _mm256_permutevar8x32_ps(high, n),
                            _mm256_castsi256_ps(_mm256_slli_epi32(n, 28)));
  }

  /// Picks n and (linear) n + 1 for every lane from the samples at `p`.
  template <Window window, bool linear>
  static void pick(const float* p, __m256i n, __m256i n1, Real& s0, Real& s1) {
    if constexpr (window == Window::gather) {
      s0 = _mm256_i32gather_ps(p, n, 4);
      if constexpr (linear) s1 = _mm256_i32gather_ps(p, n1, 4);
    } else {
      Real w0 = _mm256_loadu_ps(p);
      Real w1 = _mm256_loadu_ps(p + 8);
      keep(w0, w1);
      s0 = pick16(w0, w1, n);
      if constexpr (linear) s1 = pick16(w0, w1, n1);
      if constexpr (window == Window::wide) {
        Real w2 = _mm256_loadu_ps(p + 16);
        Real w3 = _mm256_loadu_ps(p + 24);
        keep(w2, w3);
        s0 = _mm256_blendv_ps(s0, pick16(w2, w3, n), _mm256_castsi256_ps(_mm256_slli_epi32(n, 27)));
        if constexpr (linear) s1 = _mm256_blendv_ps(s1, pick16(w2, w3, n1), _mm256_castsi256_ps(_mm256_slli_epi32(n1, 27)));
      }
    }
  }

  template <Window window, bool linear, bool weighted>
  static void lookup(const float* row, std::uint64_t quadrature, Real t, Real w, Real& sum_in_phase, Real& sum_quadrature) {
    const Real shifted = linear ? t : _mm256_add_ps(t, _mm256_set1_ps(0.5F));
    const __m256i n = _mm256_cvttps_epi32(shifted);
    const __m256i n1 = _mm256_add_epi32(n, _mm256_set1_epi32(1));
    Real i0;
    Real i1;
    Real q0;
    Real q1;
    pick<window, linear>(row, n, n1, i0, i1);
    pick<window, linear>(row + quadrature, n, n1, q0, q1);
    if constexpr (linear) {
      const Real f = _mm256_sub_ps(shifted, _mm256_cvtepi32_ps(n));
      const Real g1 = weighted ? _mm256_mul_ps(f, w) : f;
      const Real g0 = weighted ? _mm256_sub_ps(w, g1) : _mm256_sub_ps(_mm256_set1_ps(1.0F), f);
      sum_in_phase = _mm256_fmadd_ps(g1, i1, _mm256_fmadd_ps(g0, i0, sum_in_phase));
      sum_quadrature = _mm256_fmadd_ps(g1, q1, _mm256_fmadd_ps(g0, q0, sum_quadrature));
    } else if constexpr (weighted) {
      sum_in_phase = _mm256_fmadd_ps(w, i0, sum_in_phase);
      sum_quadrature = _mm256_fmadd_ps(w, q0, sum_quadrature);
    } else {
      sum_in_phase = _mm256_add_ps(i0, sum_in_phase);
      sum_quadrature = _mm256_add_ps(q0, sum_quadrature);
    }
  }
};

}  // namespace

// KernelSet for windows of 16 and 32 samples.
const KernelSet avx2_kernels = make_kernel_set<Avx2>("avx2", 14, 30);

}  // namespace echoform::beamform
