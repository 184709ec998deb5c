// Beamforming with adaptive weights: the beamformer's sum, in which the sum of each receiver is kept separate until the
// weights are known. It is far slower than the plain sum.
//
// Input and output are those of beamform.hpp; on CUDA the input is complex64. At a pixel p the channels are the receivers,
//
//     s_j(p) = sum over the events that j received of w_tx(event, p) * s(tau_tx(event, p) + tau_rx(j, p)),
//
//         with weights w_j = w_rx(j, p): the plain image is scale * sum of w_j s_j. Dead elements and receivers without a
//         row are no channels, nor are receivers that no ray from p reaches or whose weight is 0. The image is that sum times a
//         factor, or an amplitude times scale * sum of w_j, or a coherence: a number from 0 to 1 whose imaginary part is 0.
//
// stages/adaptive_weights/adaptive_weights.hpp has the formulas for real signals s. Here signals are analytic, and so
//   - energies are |s|^2 and |sum of w s|^2, and the generalised coherence factor sums complex numbers;
//   - the sign coherence factor takes the mean of (sum of w sign s)^2 of the real and of the imaginary parts;
//   - correlations are Re{s conj(s')}: both parts count as points of the window;
//   - Capon's mean is complex, with the weights of the real part.
// CUDA supports the kinds that have an implementation there (AdaptiveKind::on_cuda). The axial window goes along z. Weights
// of doubled frequency (f_dmas) need their band-pass along lines and are refused.
#pragma once

#include <memory>

#include "cpu/cpu_backend.hpp"
#include "pipeline/stage.hpp"
#include "stages/adaptive_weights/adaptive_weights.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform {

struct AdaptiveBeamformOptions {
  BeamformOptions sum;  ///< rows of pairs, none of which is the sum of both directions
  AdaptiveOptions adaptive;

  [[nodiscard]] friend bool operator==(const AdaptiveBeamformOptions&, const AdaptiveBeamformOptions&) = default;
};

/// The kind of the stage "adaptive-beamform", whose options are AdaptiveBeamformOptions.
extern const StageKind adaptive_beamform_stage;

/// Throws InputError if the options contradict each other.
[[nodiscard]] std::unique_ptr<Stage> make_adaptive_beamform_cpu(AdaptiveBeamformOptions options, Backend& backend);
/// Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_adaptive_beamform_cuda(AdaptiveBeamformOptions options, Backend& backend);

}  // namespace echoform
