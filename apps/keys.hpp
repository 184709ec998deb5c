// CURVE keys of the program: of the server by its configuration, of a client by its options.
#pragma once

#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace echoform {

/// Those of [curve]; nothing where it names no secret key. Throws InputError for files that hold none, or that others may read.
[[nodiscard]] std::optional<CurveServerKeys> server_keys(const Configuration& configuration);

/// A client's key files.
struct KeyFiles {
  std::string server_key;  ///< the server's PREFIX.public
  std::string key;         ///< the client's own PREFIX.secret
};

/// Adds --server-key and --key.
void add_key_options(CLI::App& options, KeyFiles& files);
/// Nothing where neither is given. With --server-key alone the client takes a key of the moment, which a server that lists its
/// clients refuses.
[[nodiscard]] std::optional<CurveClientKeys> client_keys(const KeyFiles& files);

}  // namespace echoform
