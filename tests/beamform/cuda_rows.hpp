// Planar analytic rows as the CUDA beamformer's input, and an image through it.
#pragma once

#include <complex>
#include <vector>

#include "pipeline/block.hpp"
#include "stages/beamform/adaptive_beamform.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "tests/beamform/way.hpp"

namespace echoform {

/// Rounds to the nearest half-precision number, ties to even; its bits.
[[nodiscard]] std::uint16_t half_bits(float value);

/// The image of `rows` (planar_complex64 as `planar` says), on the data path of `way`.
[[nodiscard]] std::vector<std::complex<float>> beamform_cuda(const BeamformOptions& options, const BlockSpec& planar,
                                                             const std::vector<float>& rows, const Way& way);

/// The same with adaptive weights, in single precision.
[[nodiscard]] std::vector<std::complex<float>> adaptive_beamform_cuda(const AdaptiveBeamformOptions& options,
                                                                      const BlockSpec& planar, const std::vector<float>& rows);

}  // namespace echoform
