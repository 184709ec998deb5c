// The plain loop against which the beamformer's speed is quoted. FROZEN: the figures in docs/performance.md are ratios to
// exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <complex>
#include <cstddef>

namespace echoform::reference {

/// image[p] = sum over i <= j of the linearly interpolated data[pair(i, j)] at delays[p, i] + delays[p, j], one pixel at a
/// time, OpenMP over pixels on `threads` threads.
/// data: [elements (elements + 1) / 2, samples] half matrix; delays: [pixels, elements] in samples; image: [pixels].
void total_focusing_loop(const std::complex<float>* data, const float* delays, std::complex<float>* image, std::size_t elements,
                         std::size_t samples, std::size_t pixels, int threads);

/// The compiler and the flags that it was built with.
[[nodiscard]] const char* build_flags();

}  // namespace echoform::reference
