// Requests that two readers could take for different ones.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <optional>
#include <string>

namespace echoform {

/// What makes a request ambiguous, as one line; nothing where nothing does. Where it ends and whom it is for must not be open to
/// two readings: what one of them takes for a body another, such as a proxy in front of this server, takes for the next request.
/// So fields by which that or the trust in a request is decided stand once, Content-Length is one number, and Transfer-Encoding
/// is "chunked" and nothing else. What the parser refuses by itself (line ends other than CRLF, control characters, blanks before
/// a colon, differing lengths, a length beside "chunked") is not looked at again. `version` is 11 for HTTP/1.1.
[[nodiscard]] std::optional<std::string> find_ambiguity(const boost::beast::http::fields& fields, unsigned version);

}  // namespace echoform
