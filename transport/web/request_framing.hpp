// Requests that two readers could take for different ones.
#pragma once

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/fields.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace echoform {

/// Beast's views of text, which are of Boost's own type before Boost 1.80.
[[nodiscard]] inline std::string_view text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}
[[nodiscard]] inline boost::beast::string_view beast_text(std::string_view text) {
  return {text.data(), text.size()};
}

/// What makes a request ambiguous, as one line; nothing where nothing does. The end of a request and its host must have one
/// reading only: bytes that one reader takes for a body, another reader, such as a proxy in front of this server, may take
/// for the next request. So fields that decide this, or the trust in a request, may occur once, Content-Length is one
/// number, and Transfer-Encoding is "chunked" and nothing else. Fields that continue on the next line are checked by
/// FoldingFinder. What the parser refuses by itself (line ends other than CRLF, control characters, blanks before a colon,
/// differing lengths, a length beside "chunked") is not looked at again. `version` is 11 for HTTP/1.1.
[[nodiscard]] std::optional<std::string> find_ambiguity(const boost::beast::http::fields& fields, unsigned version);

/// Finds fields that go on in the next line, which begins with a blank then: obsolete line folding (RFC 9112, 5.2). The parser
/// joins such lines; another reader may take the second one for a field of its own, or for none. Sees the bytes of one header as
/// they came, in whatever pieces.
class FoldingFinder {
 public:
  /// Whether a line has been found by now. What stands behind the header, such as a body, is not looked at.
  [[nodiscard]] bool find(std::string_view more) noexcept;

 private:
  bool line_begins_ = false;  // that of the request does not count
  bool line_is_empty_ = true;
  bool found_ = false;
  bool ended_ = false;
};

}  // namespace echoform
