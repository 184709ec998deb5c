#include "stages/scan_lines/line_kernels.hpp"

#include <math.h>

#include "stages/scan_lines/complex_line_kernels_loop.hpp"
#include "stages/scan_lines/line_kernels_loop.hpp"

namespace echoform::scan_lines {
namespace {

/// One range at a time.
struct Portable {
  static constexpr std::size_t lanes = 1;
  using Real = float;
  using Whole = std::int32_t;
  using Mask = bool;

  static Real zero() { return 0.0F; }
  static Real all(float value) { return value; }
  static Real load(const float* p) { return *p; }
  static Whole load(const std::int32_t* p) { return *p; }
  static void store(float* p, Real v) { *p = v; }
  static Real add(Real a, Real b) { return a + b; }
  static Whole add(Whole a, Whole b) { return a + b; }
  static Real subtract(Real a, Real b) { return a - b; }
  static Real multiply(Real a, Real b) { return a * b; }
  static Real multiply_add(Real a, Real b, Real c) { return a * b + c; }
  static Real floor(Real a) { return floorf(a); }
  static Real least(Real a, Real b) { return a < b ? a : b; }
  static Whole to_whole(Real a) { return static_cast<std::int32_t>(a); }
  static Mask within(Whole n, std::int32_t count) { return n >= 0 && n < count; }
  static bool none(Mask mask) { return !mask; }
  static Real only(Mask mask, Real a) { return mask ? a : 0.0F; }
  static Real root(Real square) { return sqrtf(square > 1e-12F ? square : 1e-12F); }
  static Real divide(Real a, Real b) { return a / b; }
  static Real from_sixteen(const float* values, Whole which) { return values[which]; }
  static Mask above_zero(Real a) { return a > 0.0F; }
  static Real choose(Mask mask, Real a, Real b) { return mask ? a : b; }
  static Real sign(Real a) { return static_cast<float>(static_cast<int>(a > 0.0F) - static_cast<int>(a < 0.0F)); }
  static Real signed_root(Real a) { return copysignf(sqrtf(fabsf(a)), a); }

  class Picker {
   public:
    Picker(Whole n, Mask /*inside*/) : place_(n) {}
    [[nodiscard]] Real pick(const float* row) const { return row[place_]; }
    void pick_both(const float* row, Real& first, Real& second) const {
      first = pick(row);
      second = pick(row + 1);
    }

   private:
    Whole place_;
  };
};

}  // namespace

LineKernels line_kernels_portable(ChannelSums sums) {
  return make_line_kernels<Portable>(sums);
}

ComplexLineKernels complex_line_kernels_portable() {
  return make_complex_line_kernels<Portable>();
}

PhasesKernel phases_kernel_portable() {
  return &make_phases<Portable>;
}

PhasesKernel phases_kernel(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return phases_kernel_avx512();
  if (level == SimdLevel::avx2) return phases_kernel_avx2();
#endif
  return phases_kernel_portable();
}

LineKernels line_kernels(SimdLevel level, ChannelSums sums) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return line_kernels_avx512(sums);
  if (level == SimdLevel::avx2) return line_kernels_avx2(sums);
#endif
  return line_kernels_portable(sums);
}

ComplexLineKernels complex_line_kernels(SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return complex_line_kernels_avx512();
  if (level == SimdLevel::avx2) return complex_line_kernels_avx2();
#endif
  return complex_line_kernels_portable();
}

}  // namespace echoform::scan_lines
