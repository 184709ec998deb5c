// The door to a Peak MicroPulse: from [input.micropulse] to a source.
#pragma once

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "instruments/micropulse/micropulse_source.hpp"
#include "transport/doors.hpp"

namespace echoform {

/// [input.micropulse]
[[nodiscard]] KeyGroup micropulse_keys();

/// What the section comes to, whether or not it names a place to connect to. Throws InputError, naming the key, for what a
/// MicroPulse cannot do.
[[nodiscard]] micropulse::SourceOptions micropulse_options(const Configuration& configuration);

/// None where the configuration names no instrument.
[[nodiscard]] OpenSource make_micropulse_door(const Configuration& configuration, const Clock& clock);

}  // namespace echoform
