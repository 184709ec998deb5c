// Makes the source of an array behind a server of us_lab4a's protocol from [input.us_lab4a].
#pragma once

#include "base/clock.hpp"
#include "config/configuration.hpp"
#include "config/key.hpp"
#include "transport/doors.hpp"

namespace echoform {

/// [input.us_lab4a]
[[nodiscard]] KeyGroup us_lab4a_keys();

/// Opens the source; none where the configuration names no instrument. Throws InputError, naming the key, for impossible
/// settings.
[[nodiscard]] OpenSource make_us_lab4a_door(const Configuration& configuration, const Clock& clock);

}  // namespace echoform
