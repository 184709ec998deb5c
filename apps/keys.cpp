#include "apps/keys.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>

#include "base/errors.hpp"
#include "transport/peers/key_file.hpp"

namespace echoform {

std::optional<CurveServerKeys> server_keys(const Configuration& configuration) {
  const CurveSection& curve = configuration.curve;
  const auto where = [&](std::string_view key) { return fmt::format("{}: [curve] {}", configuration.name(), key); };
  if (curve.secret_key_file.empty()) {
    if (curve.client_keys.empty()) return std::nullopt;
    throw InputError(where("client_keys"), "clients' keys and no secret_key_file",
                     "the server's own key beside them: without it nothing is encrypted and everybody is let in");
  }
  if (!curve_available()) throw InputError(where("secret_key_file"), "a libzmq without CURVE", "one that has it");
  CurveServerKeys keys;
  keys.secret_key = read_curve_secret(named_file(configuration, curve.secret_key_file), where("secret_key_file")).secret_key;
  if (!curve.client_keys.empty()) {
    keys.clients = read_curve_clients(named_file(configuration, curve.client_keys), where("client_keys"));
  }
  return keys;
}

void add_key_options(CLI::App& options, KeyFiles& files) {
  options.add_option("--server-key", files.server_key, "Public key of a server with CURVE: its PREFIX.public")
      ->option_text("FILE");
  options
      .add_option("--key", files.key, "One's own key, for a server that lists its clients: PREFIX.secret of `echoform keygen`")
      ->option_text("FILE");
}

std::optional<CurveClientKeys> client_keys(const KeyFiles& files) {
  if (files.server_key.empty()) {
    if (files.key.empty()) return std::nullopt;
    throw InputError("--key", "it without --server-key", "both: a client with CURVE knows its server by its public key");
  }
  CurveClientKeys keys;
  keys.server_key = read_curve_public(files.server_key, "--server-key");
  keys.own = files.key.empty() ? make_curve_pair() : read_curve_secret(files.key, "--key");
  return keys;
}

void add_refused_token(CLI::App& options) {
  const auto refuse = [](const std::string&) {
    throw InputError("--token", "a secret among the arguments, which every user of this machine may read",
                     "--token-file FILE, or the environment variable ECHOFORM_TOKEN");
  };
  options.add_option_function<std::string>("--token", refuse, "")->group("");  // not in --help
}

std::string sender_token(const std::string& file) {
  if (file.empty()) {
    const char* const token = std::getenv("ECHOFORM_TOKEN");
    return token != nullptr ? token : "";
  }
  const std::string text = read_key_file(file, "--token-file", true);
  std::string token = text.substr(0, text.find_first_of("\r\n"));
  if (token.empty()) throw InputError(place_of("--token-file", file), "an empty line", "the secret that the server asks for");
  return token;
}

}  // namespace echoform
