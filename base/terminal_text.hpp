// Text of peers and files, for a terminal or a log that somebody shows on one.
#pragma once

#include <string>
#include <string_view>

namespace echoform {

/// What may stand in a text besides what can be seen.
enum class LineBreaks : bool { replaced, kept };

/// `text` with '?' for whatever could steer a terminal or make a line look like another one: control characters of ASCII (of
/// which '\n' and '\t' may be kept) and of Unicode (U+0080 to U+009F: U+009B alone begins an escape sequence), marks that turn
/// the direction of writing, separators of lines, and bytes that are no UTF-8. All else stays as it is.
[[nodiscard]] std::string terminal_text(std::string_view text, LineBreaks line_breaks);

}  // namespace echoform
