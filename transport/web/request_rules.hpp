// What the web server lets through, as plain functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/peers/peer_counters.hpp"

namespace echoform {

/// Streams that one viewer may watch.
inline constexpr std::size_t most_streams = 4;

/// "/images?stream=a%2Fb&stream=c&together" as path "/images", the values of `stream` and `token`, and that `together` is there.
struct RequestTarget {
  std::string path;
  std::vector<std::string> streams;  ///< each once; empty where absent
  std::string token;
  bool together = false;
};

/// Returns nothing for a target that is not a path, has a broken escape, holds a value longer than 256 bytes, or names more than
/// most_streams streams.
[[nodiscard]] std::optional<RequestTarget> parse_target(std::string_view target);

/// Whether a browser may ask for this server by the Host header `host` ("localhost:8080", "[::1]:8080"): numeric addresses,
/// localhost, and `names` (compared without case). Any other name could be another site's, pointed at this address.
[[nodiscard]] bool host_allowed(std::string_view host, std::span<const std::string> names);

/// Whether a page of `origin` ("http://localhost:8080") is one of this server's own, which `host` names as the request does. Over
/// TLS (`encrypted`) only https is; without it both are, since a proxy may add it. Programs that are not browsers send no origin
/// and are let through.
[[nodiscard]] bool origin_allowed(std::string_view origin, std::string_view host, bool encrypted = false);

/// Whether a request brings the server's token, in its address or as "Bearer TOKEN" in `authorization`. Takes as long for a
/// wrong token as for the right one.
[[nodiscard]] bool token_allowed(std::string_view expected, std::string_view given, std::string_view authorization);

/// Whom a server trusts.
struct RequestTrust {
  std::string_view token;                   ///< empty: none asked for
  std::span<const std::string> host_names;  ///< see host_allowed()
  bool encrypted = false;                   ///< by TLS
};

/// What a request says of where it comes from: its header fields as they are, empty where absent, and the token of its address.
struct RequestOrigin {
  std::string_view host;
  std::string_view origin;
  std::string_view authorization;
  std::string_view fetch_site;  ///< Sec-Fetch-Site
  std::string_view fetch_mode;  ///< Sec-Fetch-Mode
  std::string_view content_type;
  std::string_view token;  ///< see parse_target()
};

/// Nothing if a request may read what the server shows, else why it may not: a name that is not this server's, a page of another
/// site (that a link leads here is allowed), no or another token. In this order.
[[nodiscard]] std::optional<PeerRefusal> refuse_to_read(const RequestOrigin& request, const RequestTrust& trust);

/// The same for a request that changes something (POST and its like): no link and no form of another site may bring it, and it
/// says "application/json", which a page can send elsewhere only if that other server agrees.
[[nodiscard]] std::optional<PeerRefusal> refuse_to_change(const RequestOrigin& request, const RequestTrust& trust);

/// As a value in a query: all but letters, digits and "-._~" escaped.
[[nodiscard]] std::string escape_query(std::string_view text);

/// A JSON string, quoted.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace echoform
