// What [simulator] says of sound that light makes.
#pragma once

#include <string>

#include "simulators/sound_sources.hpp"

namespace echoform {

/// Found by section<SoundSection>(configuration); detectors are section<DetectorArray>(configuration).
struct SoundSection {
  SoundSources sources;     ///< but for what `haemoglobin` names
  std::string haemoglobin;  ///< a file, resolved; empty: the table of haemoglobin_spectra()
};

}  // namespace echoform
