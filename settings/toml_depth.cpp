#include "settings/toml_depth.hpp"

#include <algorithm>

namespace echoform {
namespace {

/// The end of the string that begins at `at`, behind its quotes. In TOML 1.0, strings in " have escapes and strings in ' have
/// none. A string with one quote on each side ends with the line at the latest; a string with three may contain several lines.
std::size_t end_of_string(std::string_view text, std::size_t at) noexcept {
  const char quote = text[at];
  const auto run_at = [&](std::size_t from) { return std::min(text.find_first_not_of(quote, from), text.size()) - from; };
  const bool several_lines = run_at(at) >= 3;
  at += several_lines ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\' && quote == '"') {
      at += 2;
    } else if (text[at] == quote) {
      // Up to two quotes may stand before the three that close the string.
      const std::size_t run = several_lines ? run_at(at) : 1;
      at += run;
      if (!several_lines || run >= 3) return at;
    } else if (text[at] == '\n' && !several_lines) {
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> find_deep_toml(std::string_view text) noexcept {
  std::size_t open = 0;  // brackets and braces
  std::size_t dots = 0;  // dots of the current key, or of a number
  for (std::size_t at = 0; at < text.size();) {
    switch (text[at]) {
      case '#':
        at = std::min(text.find('\n', at), text.size());
        continue;
      case '"':
      case '\'':
        at = end_of_string(text, at);
        continue;
      case '[':
      case '{':
        ++open;
        dots = 0;
        break;
      case ']':
      case '}':
        open -= open > 0 ? 1 : 0;
        dots = 0;
        break;
      case '.':
        ++dots;
        break;
      case '\n':
      case '=':
      case ',':
        dots = 0;
        break;
      default:
        break;
    }
    // A key of n dots has n + 1 levels.
    if (open > deepest_toml || dots >= deepest_toml) {
      return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace echoform
