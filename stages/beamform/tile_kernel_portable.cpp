// Plain C++: sixteen pixels in a loop. Every window is read from memory, so there is one kind.
#include "stages/beamform/tile_kernel_loop.hpp"

namespace echoform::beamform {
namespace {

struct Portable {
  static constexpr std::uint32_t lanes = 16;
  struct Real {
    float v[lanes];
  };

  static Real zero() { return Real{}; }
  static Real load(const float* p) {
    Real r;
    for (std::uint32_t l = 0; l < lanes; ++l) r.v[l] = p[l];
    return r;
  }
  static void store(float* p, const Real& r) {
    for (std::uint32_t l = 0; l < lanes; ++l) p[l] = r.v[l];
  }
  static Real add(const Real& a, const Real& b) {
    Real r;
    for (std::uint32_t l = 0; l < lanes; ++l) r.v[l] = a.v[l] + b.v[l];
    return r;
  }
  static Real multiply_add(const Real& a, const Real& b, const Real& c) {
    Real r;
    for (std::uint32_t l = 0; l < lanes; ++l) r.v[l] = a.v[l] * b.v[l] + c.v[l];
    return r;
  }

  template <Window window, bool linear, bool weighted>
  static void lookup(const float* row, std::uint64_t quadrature, const Real& t, const Real& w, Real& sum_in_phase,
                     Real& sum_quadrature) {
    for (std::uint32_t l = 0; l < lanes; ++l) {
      const float shifted = linear ? t.v[l] : t.v[l] + 0.5F;
      const std::int32_t n = static_cast<std::int32_t>(shifted);
      const float* p = row + n;
      if constexpr (linear) {
        const float f = shifted - static_cast<float>(n);
        const float g1 = weighted ? f * w.v[l] : f;
        const float g0 = weighted ? w.v[l] - g1 : 1.0F - f;
        sum_in_phase.v[l] += g0 * p[0] + g1 * p[1];
        sum_quadrature.v[l] += g0 * p[quadrature] + g1 * p[quadrature + 1];
      } else {
        const float weight = weighted ? w.v[l] : 1.0F;
        sum_in_phase.v[l] += weight * p[0];
        sum_quadrature.v[l] += weight * p[quadrature];
      }
    }
  }
};

}  // namespace

const KernelSet portable_kernels = make_kernel_set<Portable>("portable", 0, 0);

}  // namespace echoform::beamform
