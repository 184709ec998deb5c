// The section of tomography and its keys.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

[[nodiscard]] std::vector<Section> tomography_sections();
void add_tomography_keys(std::vector<Key>& keys);

/// Checks [tomography] before any data is there. Throws InputError, naming configuration and key.
void check_tomography(const ImagingSettings& settings);

}  // namespace echoform
