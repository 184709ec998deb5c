// The host's memory that imaging may take.
#pragma once

#include "config/configuration.hpp"

namespace echoform {

/// Three quarters of the memory that this process may have: the machine's, or its control group's if that is less. Bytes.
[[nodiscard]] double default_memory_limit();
/// [imaging] memory_limit, or else the default. Bytes.
[[nodiscard]] double memory_limit(const ImagingSettings& settings);

}  // namespace echoform
