#include "base/terminal_text.hpp"

#include <cstddef>
#include <cstdint>

namespace echoform {
namespace {

/// A character of UTF-8 (RFC 3629) and the number of its bytes. Invalid bytes give one byte and no character.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character first_of(std::string_view text) {
  const auto byte_at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte_at(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte_at(k) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte_at(k) & 0x3FU);
  }
  constexpr std::uint32_t minimum[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < minimum[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes, true};
}

bool is_harmless(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
  // Direction marks (Unicode's Bidi_Control) and separators of lines and paragraphs.
  return code != 0x061C && code != 0x200E && code != 0x200F && !(code >= 0x2028 && code <= 0x202E) &&
         !(code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string terminal_text(std::string_view text, LineBreaks line_breaks) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_of(text);
    const bool kept = line_breaks == LineBreaks::kept && (text.front() == '\n' || text.front() == '\t');
    if (kept || (character.valid && is_harmless(character.code))) {
      clean += text.substr(0, character.bytes);
    } else {
      clean += '?';
    }
    text.remove_prefix(character.bytes);
  }
  return clean;
}

}  // namespace echoform
