// Text of peers and files, for a terminal or a log that somebody shows on one.
#pragma once

#include <string>
#include <string_view>

namespace echoform {

/// Whether line breaks and tabs in a text are kept.
enum class LineBreaks : bool { replaced, kept };

/// `text` with '?' for whatever could steer a terminal or make a line look like another one: control characters of ASCII (of
/// which '\n' and '\t' may be kept) and of Unicode (U+0080 to U+009F: U+009B alone begins an escape sequence), marks that
/// change the direction of writing, separators of lines, and bytes that are not UTF-8. All other text stays as it is.
[[nodiscard]] std::string terminal_text(std::string_view text, LineBreaks line_breaks);

}  // namespace echoform
