#include "transport/web/request_framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <string_view>

#include "transport/web/request_rules.hpp"

namespace echoform {
namespace {

constexpr std::string_view fields_that_stand_once[] = {"Host",         "Content-Length", "Transfer-Encoding", "Origin",
                                                       "Content-Type", "Authorization",  "Sec-Fetch-Site",    "Sec-Fetch-Mode"};

}  // namespace

std::optional<std::string> find_ambiguity(const boost::beast::http::fields& fields, unsigned version) {
  for (const std::string_view name : fields_that_stand_once) {
    if (fields.count(beast_text(name)) > 1) return fmt::format("{} stands there twice", name);
  }
  if (const auto length = fields.find("Content-Length"); length != fields.end()) {
    const std::string_view value = text_of(length->value());
    if (value.empty() || !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return fmt::format("Content-Length is {} and not one number", json_string(value));
    }
  }
  if (const auto encoding = fields.find("Transfer-Encoding"); encoding != fields.end()) {
    const std::string_view value = text_of(encoding->value());
    if (version < 11) return "Transfer-Encoding in a request of HTTP/1.0";
    if (!boost::beast::iequals(beast_text(value), "chunked"))
      return fmt::format("Transfer-Encoding is {} and not chunked", json_string(value));
    if (fields.count("Content-Length") > 0) return "Transfer-Encoding beside Content-Length";
  }
  return std::nullopt;
}

bool FoldingFinder::find(std::string_view more) noexcept {
  for (const char c : more) {
    if (found_ || ended_) break;
    found_ = line_begins_ && (c == ' ' || c == '\t');
    if (c == '\n') {
      ended_ = line_is_empty_;
      line_is_empty_ = true;
    } else if (c != '\r') {
      line_is_empty_ = false;
    }
    line_begins_ = c == '\n';
  }
  return found_;
}

}  // namespace echoform
