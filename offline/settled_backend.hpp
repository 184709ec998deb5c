// Where images are formed on this machine.
#pragma once

#include <string>

#include "config/configuration.hpp"

namespace echoform {

/// Replaces [imaging] backend = "auto" by what it comes to on this machine. Returns a line for people: which GPU it is, or why it
/// is the CPU (the machine's reason, or the method's); empty where the CPU was asked for. It may start the GPU. Throws InputError
/// as require_backend() and decide_backend().
[[nodiscard]] std::string settled_backend(Configuration& configuration);

}  // namespace echoform
