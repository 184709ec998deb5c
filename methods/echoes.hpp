// The acquisitions that methods which image echoes accept.
#pragma once

#include "acquisition/acquisition.hpp"

namespace echoform {

/// Throws InputError where no element transmits in the events: what is received then is no echo: it travels one way
/// only.
void require_echoes(const Acquisition& acquisition);

}  // namespace echoform
