// AVX2: eight pixels a vector. The permute has eight entries, so a window of 16 samples is two permutes and a blend; longer
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

  static Real pick16(const float* p, __m256i n) {
    const Real low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(p), n);
    const Real high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(p + 8), n);
    // Bit 3 of n moves to the sign, by which the blend chooses.
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(n, 28)));
  }

  template <Window window>
  static Real pick(const float* p, __m256i n) {
    if constexpr (window == Window::gather) {
      return _mm256_i32gather_ps(p, n, 4);
    } else if constexpr (window == Window::narrow) {
      return pick16(p, n);
    } else {
      return _mm256_blendv_ps(pick16(p, n), pick16(p + 16, n), _mm256_castsi256_ps(_mm256_slli_epi32(n, 27)));
    }
  }

  template <Window window, bool linear, bool weighted>
  static void lookup(const float* row, std::uint64_t quadrature, Real t, Real w, Real& sum_in_phase, Real& sum_quadrature) {
    const Real shifted = linear ? t : _mm256_add_ps(t, _mm256_set1_ps(0.5F));
    const __m256i n = _mm256_cvttps_epi32(shifted);
    const Real i0 = pick<window>(row, n);
    const Real q0 = pick<window>(row + quadrature, n);
    if constexpr (linear) {
      const __m256i n1 = _mm256_add_epi32(n, _mm256_set1_epi32(1));
      const Real i1 = pick<window>(row, n1);
      const Real q1 = pick<window>(row + quadrature, n1);
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

// The last sample picked is floor(reach) + 1 on.
const KernelSet avx2_kernels = make_kernel_set<Avx2>("avx2", 14, 30);

}  // namespace echoform::beamform
