// What a configuration states of probe, material and sampling replaces what the data state, for every method.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

/// [material], [probe], [acquisition] and [doppler] pulse_repetition replace what `acquisition` and `material` have; one
/// line for each change is added to `notes`. Throws InputError, naming the configuration and the key, for an element that
/// does not exist and for a kind of matrix that the data do not have.
void apply_overrides(const ImagingSettings& settings, Acquisition& acquisition, Material& material,
                     std::vector<std::string>& notes);

/// Moves the elements as [probe] stand_off, angle and x state. They are rotated by `angle` from x towards z about the
/// aperture's centre (the middle between the first and the last element), whose z becomes -stand_off and whose x becomes x.
/// Values that are absent leave the placement as it is. `note(key, value, does)` is called for each key; `does` is
/// "replaces the placement of the data", or the angles before and after.
void place_probe(const ProbeSection& section, Probe& probe,
                 const std::function<void(std::string_view key, const std::string& value, const std::string& does)>& note);

}  // namespace echoform
