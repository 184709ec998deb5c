// Makes the source of a Peak MicroPulse from [input.micropulse].
#pragma once

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "instruments/micropulse/micropulse_source.hpp"
#include "transport/doors.hpp"

namespace echoform {

/// [input.micropulse]
[[nodiscard]] KeyGroup micropulse_keys();

/// The options that the section states, whether or not it names an address. Throws InputError, naming the key, for settings
/// that a MicroPulse does not support.
[[nodiscard]] micropulse::SourceOptions micropulse_options(const Configuration& configuration);

/// Opens the source; none where the configuration names no instrument.
[[nodiscard]] OpenSource make_micropulse_door(const Configuration& configuration, const Clock& clock);

}  // namespace echoform
