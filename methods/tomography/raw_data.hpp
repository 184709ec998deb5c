// The keys of [tomography] about the data themselves, for every use of these: energies of the pulses of light, and the
// response of detectors to pressures.
#pragma once

#include <optional>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "config/configuration.hpp"
#include "stages/deconvolution/deconvolution.hpp"

namespace echoform {

/// The factor of each event that brings its A-scans to the mean energy of all pulses: mean / energy. Empty where
/// [tomography] pulse_energy is "ignored". Throws InputError, naming configuration and key, for an event without an energy.
[[nodiscard]] std::vector<float> gains_of_events(const ImagingSettings& settings, const Acquisition& acquisition);

/// The impulse response that [tomography] states, from a file or as a Gaussian, and how it is undone; nothing where none is
/// stated. Expects a configuration that passes check_tomography(). Throws InputError, naming configuration and key, for a
/// file that is no response, an impulse_zero beyond it, and options out of their range.
[[nodiscard]] std::optional<DeconvolutionOptions> stated_detector_response(const ImagingSettings& settings, Hertz sample_rate);

/// Throws InputError, naming configuration and key, for a response that has more than a tenth of its maximum left at half
/// the sample rate.
void refuse_coarse_response(const ImagingSettings& settings, const DeconvolutionOptions& options);

}  // namespace echoform
