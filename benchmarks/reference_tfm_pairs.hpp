// A second plain loop against which the beamformer's speed is quoted: what somebody writes who thinks of the caches. It reads an
// A-scan once for many pixels (pair-major), and its rows are padded, where those of the first loop (reference_tfm.hpp) lie a
// power of two apart at the usual number of samples and fall into the same places of a cache. FROZEN: the figures in
// docs/performance.md are ratios to exactly this code with exactly these flags, so neither may be improved or worsened.
#pragma once

#include <complex>
#include <cstddef>

namespace echoform::reference {

/// image[p] = sum over i <= j of the linearly interpolated data[pair(i, j)] at delays[i, p] + delays[j, p], times
/// weights[i, p] * weights[j, p]; OpenMP over blocks of pixels on `threads` threads, in each of which all pairs are gone through.
/// data: [elements (elements + 1) / 2, pitch] half matrix, of which the first `samples` of a row count; delays: [elements,
/// pixels] in samples; weights: [elements, pixels], or null where all are 1; image: [pixels].
void total_focusing_pairs_loop(const std::complex<float>* data, std::size_t pitch, const float* delays, const float* weights,
                               std::complex<float>* image, std::size_t elements, std::size_t samples, std::size_t pixels,
                               int threads);

}  // namespace echoform::reference
