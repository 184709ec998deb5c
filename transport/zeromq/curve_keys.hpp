// Keys of CURVE, ZeroMQ's encryption: a pair for the server, a pair for each client. A server proves that it has the secret key
// that belongs to the public key which its clients know; it lets in those clients whose public keys it was given.
//
// Files are ZeroMQ certificates, as pyzmq and CZMQ write and read them: PREFIX.secret holds both keys, PREFIX.public the public
// one, in Z85 (40 characters for 32 bytes).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace echoform {

using CurveKey = std::array<std::uint8_t, 32>;

struct CurvePair {
  CurveKey public_key{};
  CurveKey secret_key{};
};

/// Keys of a socket that listens.
struct CurveServerKeys {
  CurveKey secret_key{};
  std::vector<CurveKey> clients;  ///< public keys of those that are let in; empty: everybody who knows the server's public key
};

/// Keys of a socket that connects.
struct CurveClientKeys {
  CurvePair own;
  CurveKey server_key{};  ///< the server's public key
};

/// Whether the libzmq in use has CURVE.
[[nodiscard]] bool curve_available();

/// A new pair. Throws RuntimeFault where libzmq has no CURVE.
[[nodiscard]] CurvePair make_curve_pair();
[[nodiscard]] CurveKey curve_public_key(const CurveKey& secret_key);

/// The key as Z85 text, and the key of such a text: nothing unless `text` is 40 characters of Z85 that stand for 32 bytes.
[[nodiscard]] std::string curve_text(const CurveKey& key);
[[nodiscard]] std::optional<CurveKey> curve_key(std::string_view text);

/// Whether `key` is among `keys`; takes as long whether and wherever it is.
[[nodiscard]] bool lists_key(const std::vector<CurveKey>& keys, const CurveKey& key) noexcept;

/// Writes PREFIX.secret, which only its owner may read, and PREFIX.public. Throws InputError if either exists, RuntimeFault if
/// they cannot be written; then neither is left behind.
void write_curve_pair(const std::filesystem::path& prefix, const CurvePair& pair);

/// Reads PREFIX.secret. Throws InputError (naming the file, and `where` as what asked for it) if it cannot be read, holds no such
/// key, or may be read by others than its owner and group.
[[nodiscard]] CurvePair read_curve_secret(const std::filesystem::path& file, std::string_view where);

/// Reads the public key of PREFIX.public (or of PREFIX.secret, which holds it too).
[[nodiscard]] CurveKey read_curve_public(const std::filesystem::path& file, std::string_view where);

/// Public keys of clients: every public-key line of a file, or of the files of a folder that end in .public or .key. Throws
/// InputError if there is none, or more than 4096.
[[nodiscard]] std::vector<CurveKey> read_curve_clients(const std::filesystem::path& place, std::string_view where);

}  // namespace echoform
