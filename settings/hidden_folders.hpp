// Messages about a fault to peers name settings and files, but not where on this machine the files are.
#pragma once

#include <string>

#include "config/configuration.hpp"

namespace echoform {

/// `line`, in which each path that the configuration names is replaced by its last part: the path of its own file, and
/// every path that a key holds, both as written and as found from the configuration's folder. "server.toml: [surface] file:
/// found part.stl, which ...".
[[nodiscard]] std::string without_folders(std::string line, const Configuration& configuration);

}  // namespace echoform
