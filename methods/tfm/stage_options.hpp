// What an imaging plan asks of each stage.
#pragma once

#include "methods/tfm/plan.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/beamform/beamform_options.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"
#include "stages/unpack/unpack.hpp"

namespace echoform {

[[nodiscard]] UnpackOptions unpack_options(const ImagingPlan& plan);
/// Whether event k is element k, for all elements. Throws InputError for an event in which not one element fires.
[[nodiscard]] bool fires_every_element(const Acquisition& acquisition);
/// Whether no law and no weight tells (i, j) from (j, i), and event k is element k: then both directions of a pair are added.
[[nodiscard]] bool reciprocal(const ImagingPlan& plan);
[[nodiscard]] PairingOptions pairing_options(const ImagingPlan& plan);
/// Plans with an accuracy of half_path_accuracy or more take the half path.
[[nodiscard]] AnalyticSignalOptions analytic_signal_options(const ImagingPlan& plan);
/// Of one view, on the rows of pairing_options(). Throws InputError for an event in which not one element fires.
[[nodiscard]] BeamformOptions beamform_options(const ImagingPlan& plan, std::size_t view);
/// From the acoustic grid to the display grid, which is the acoustic grid where the plan names none.
[[nodiscard]] ScanConversionOptions scan_conversion_options(const ImagingPlan& plan);

}  // namespace echoform
