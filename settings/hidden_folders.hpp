// What peers are told of a fault names settings and files, but not where on this machine the files are.
#pragma once

#include <string>

#include "config/configuration.hpp"

namespace echoform {

/// `line` with the last part alone of each path that the configuration names: its own file's, and every one that a key holds, as
/// it is written and as it is found from the configuration's folder. "server.toml: [surface] file: found part.stl, which ...".
[[nodiscard]] std::string without_folders(std::string line, const Configuration& configuration);

}  // namespace echoform
