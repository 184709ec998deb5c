// The sum along one line of complex rows: baseband samples, whose phases are rotated to their places.
#pragma once

#include "stages/scan_lines/line_kernels.hpp"

namespace echoform::scan_lines {

struct ComplexLineTask {
  LineTask real;              ///< its receivers' rows are the real parts, and `out` is the real part of the sum
  std::ptrdiff_t quadrature;  ///< from a receiver's row to that of its imaginary parts, row_lead zeros around it too
  /// Phase rotation in cycles per sample of path length: each value is multiplied by exp(+j 2 pi cycles (|p - e| - r)). The
  /// rotation by tau_tx + r / c is common to all receivers, and left out.
  float cycles;
  float* out_imaginary;
};

using ComplexLineKernel = void (*)(const ComplexLineTask& task);

struct ComplexLineKernels {
  ComplexLineKernel nearest;
  ComplexLineKernel linear;
  ComplexLineKernel taps;
};

/// Levels differ by rounding.
[[nodiscard]] ComplexLineKernels complex_line_kernels(SimdLevel level);

[[nodiscard]] ComplexLineKernels complex_line_kernels_portable();
[[nodiscard]] ComplexLineKernels complex_line_kernels_avx2();
[[nodiscard]] ComplexLineKernels complex_line_kernels_avx512();

}  // namespace echoform::scan_lines
