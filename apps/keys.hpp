// CURVE keys of the program: the server's from its configuration, a client's from its options.
#pragma once

#include <optional>
#include <string>

#include "config/configuration.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace echoform {

/// The keys of [curve]; nothing where it names no secret key. Throws InputError for files that hold no key, or that others
/// may read.
[[nodiscard]] std::optional<CurveServerKeys> server_keys(const Configuration& configuration);

/// A client's key files.
struct KeyFiles {
  std::string server_key;  ///< the server's PREFIX.public
  std::string key;         ///< the client's own PREFIX.secret
};

/// Adds --server-key and --key.
void add_key_options(CLI::App& options, KeyFiles& files);
/// The client's keys; nothing where neither option is given. With --server-key alone the client uses a temporary key, which
/// a server that lists its clients refuses.
[[nodiscard]] std::optional<CurveClientKeys> client_keys(const KeyFiles& files);

/// Adds --token as an option that is refused, with a message that names its replacement. Every user of this machine can read
/// the arguments of its processes.
void add_refused_token(CLI::App& options);
/// The secret in `file`, up to the end of its first line; where no file is named, that in the environment variable
/// ECHOFORM_TOKEN, or none. Throws InputError for a file that others may read, or that holds no such line.
[[nodiscard]] std::string sender_token(const std::string& file);

}  // namespace echoform
