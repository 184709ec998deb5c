#pragma once

#include <chrono>

namespace echoform {

/// How long what must come may take on a busy machine; a test waits as long only if it fails.
inline constexpr std::chrono::seconds patience{60};

}  // namespace echoform
