// Keys of the simulated source, in files by what they say.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

/// All of [simulator] and [detectors]: SimulatorSection, SoundSection and DetectorArray.
[[nodiscard]] KeyGroup simulator_keys();

// Parts of it that stand in files of their own.
void add_detector_keys(std::vector<Key>& keys);
void add_encoder_keys(std::vector<Key>& keys);
void add_sound_keys(std::vector<Key>& keys);
void add_tissue_keys(std::vector<Key>& keys);

}  // namespace echoform
