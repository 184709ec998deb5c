// The keys of [server] and [curve]: which clients may connect, and how many.
#include "config/common_keys.hpp"
#include "config/key_types.hpp"

namespace echoform {
namespace {

void short_text(const std::string& text, std::string_view where, std::string_view expected) {
  if (text.size() > 256) throw InputError(where, fmt::format("{} bytes", text.size()), expected);
}

}  // namespace

void add_security_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  k.push_back(integer(
      {"server", "max_subscribers", "", "Subscribers of the images at once, and of the telemetry; one more is disconnected."},
      within(1, 1024), [](auto& c) -> auto& { return c.server.max_subscribers; }));
  k.push_back(text(
      {"server", "token", "",
       "Secret that browsers must bring, as ?token=... in the page's address; empty asks for none. At most 256 bytes."},
      "at most 256 bytes", short_text, [](auto& c) -> auto& { return c.server.token; }));
  k.push_back(text(
      {"server", "tls_certificate", "",
       "PEM file with the web server's certificate and those that it rests on: with tls_key, the web server speaks HTTPS alone."},
      "", any_text, [](auto& c) -> auto& { return c.server.tls_certificate; }));
  k.push_back(text(
      {"server", "tls_key", "", "PEM file with the certificate's private key, which others may not read."}, "", any_text,
      [](auto& c) -> auto& { return c.server.tls_key; }));
  k.push_back(text(
      {"curve", "secret_key_file", "", "PREFIX.secret of `echoform keygen`, which others may not read; empty is no encryption."},
      "", any_text, [](auto& c) -> auto& { return c.curve.secret_key_file; }));
  k.push_back(text(
      {"curve", "client_keys", "",
       "Public keys of the clients that are let in: a file, or a folder of *.public files; empty lets in whoever knows the "
       "server's public key."},
      "", any_text, [](auto& c) -> auto& { return c.curve.client_keys; }));
}

}  // namespace echoform
