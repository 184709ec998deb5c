// The geometry between probe and pixels that a configuration states: couplant, surfaces, the probe's placement, and the
// checks that need the probe and the grid.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "methods/tfm/plan.hpp"
#include "rays/scene.hpp"

namespace echoform {

/// [couplant], [surface] and [backwall]. With a couplant or a backwall and no [surface], the front surface is the plane z = 0.
/// Planes reach twice as far as the grid of the configuration and `probe`, where it is known, lie from x = 0, at least 0.5 m.
/// Reads the files that surfaces name. Throws InputError, naming the configuration and the section, for parameters without a kind
/// and what make_surface refuses: a profile that crosses itself, for one.
[[nodiscard]] Scene make_scene(const ImagingSettings& settings, const Probe& probe = {});

/// Throws InputError where [grid] z is needed since no gate determines the depth: with a couplant, a surface or a view that
/// skips.
void check_depth_is_told(const ImagingSettings& settings);

/// Throws InputError for
/// - elements in couplant that do not lie above the front surface,
/// - elements that do not lie above the backwall,
/// - a backwall that does not lie below the front surface where the grid is,
/// - weights by the elements' angles where a law has tables and does not state at which angles its waves leave the
///   elements.
void check_geometry(const ImagingSettings& settings, const ImagingPlan& plan, const Scene& scene);

/// Warnings for the log, a line each, about geometry that has no effect or cannot be meant:
/// - a grid of which a quarter or more lies above the front surface,
/// - [imaging] travel_times = "interpolated" where it is not used,
/// - with delay_law = "contact", a [surface] that no view meets,
/// - with delay_law = "contact", elements more than a tenth of the longitudinal wavelength above the front surface (0.1 mm
///   where it is not known), except those of a curved array that touches it.
[[nodiscard]] std::vector<std::string> geometry_warnings(const ImagingSettings& settings, const ImagingPlan& plan,
                                                         const Scene& scene);

/// Tabulates each leg that can be tabulated for the plan's grid once, on [imaging] threads. With travel_times =
/// "interpolated" the times of a leg may deviate by half of a hundredth of the probe's period, so that those of a pair, the
/// sum of two legs, stay within a hundredth. Throws InputError if that is requested for a leg and the probe's centre
/// frequency is not known.
void tabulate_legs(const ImagingSettings& settings, ImagingPlan& plan);

/// Throws InputError for a view of which no pixel is reached on both sides by any living element, and states the reason: a
/// grid outside of the part, or rays beyond the critical angle and in shadow. Views without tables are not checked.
void check_reach(const ImagingSettings& settings, const ImagingPlan& plan, const Scene& scene);

}  // namespace echoform
