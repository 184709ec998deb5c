// What the web server lets through, as plain functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace echoform {

/// "/images?stream=a%2Fb" as path "/images" and the values of `stream` and `token`.
struct RequestTarget {
  std::string path;
  std::string stream;  ///< empty where absent
  std::string token;
};

/// Returns nothing for a target that is not a path, has a broken escape, or holds a value longer than 256 bytes.
[[nodiscard]] std::optional<RequestTarget> parse_target(std::string_view target);

/// Whether a browser may ask for this server by the Host header `host` ("localhost:8080", "[::1]:8080"): numeric addresses,
/// localhost, and `names` (compared without case). Any other name could be another site's, pointed at this address.
[[nodiscard]] bool host_allowed(std::string_view host, std::span<const std::string> names);

/// Whether a page of `origin` ("http://localhost:8080") may open a WebSocket here: only this server's own pages.
/// Programs that are not browsers send no origin and are let through.
[[nodiscard]] bool origin_allowed(std::string_view origin, std::string_view host);

/// Whether a request brings the server's token, in its address or as "Bearer TOKEN" in `authorization`. Takes as long for a
/// wrong token as for the right one.
[[nodiscard]] bool token_allowed(std::string_view expected, std::string_view given, std::string_view authorization);

/// Whether a Content-Type says JSON, with parameters or without.
[[nodiscard]] bool is_json(std::string_view content_type);

/// As a value in a query: all but letters, digits and "-._~" escaped.
[[nodiscard]] std::string escape_query(std::string_view text);

/// A JSON string, quoted.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace echoform
