// What a configuration says of probe, material and sampling replaces what data say, whatever makes images of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

/// [material], [probe], [acquisition] and [doppler] pulse_repetition replace what `acquisition` and `material` have; one line for
/// each change is added to `notes`. Throws InputError, naming the configuration and the key, for an element that is not there and
/// for a kind of matrix that the data are not.
void apply_overrides(const ImagingSettings& settings, Acquisition& acquisition, Material& material,
                     std::vector<std::string>& notes);

/// Moves the elements as [probe] stand_off, angle and x say: turned by `angle` from x towards z about the aperture's centre (the
/// middle between the first and the last element), whose z becomes -stand_off and whose x becomes x. What is absent stays as it
/// is. `note(key, value, does)` is called for each; what it does is "replaces the placement of the data", or the angles before
/// and after.
void place_probe(const ProbeSection& section, Probe& probe,
                 const std::function<void(std::string_view key, const std::string& value, const std::string& does)>& note);

}  // namespace echoform
