// Which acquisitions methods take that image echoes.
#pragma once

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Throws InputError where nobody transmits in the events: what is heard then are no echoes, and travels one way alone.
void require_echoes(const Acquisition& acquisition);

}  // namespace echoform
