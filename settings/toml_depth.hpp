// The depth of nesting of a TOML text, found without recursion. toml++ makes a nested table of every part of a dotted key
// and destroys them by recursion, which crashes the program where there are enough of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace echoform {

/// Far above what any key of a configuration needs (a section, a key, an array of arrays).
inline constexpr std::size_t deepest_toml = 16;

/// The line, from 1, of the first key, table header, array or inline table with more than deepest_toml levels; nothing
/// where there is none. Comments count as nothing and strings as one name or value each, whatever they hold. In text that
/// is no TOML, everything is checked that a parser reads before it finds the fault.
[[nodiscard]] std::optional<std::size_t> find_deep_toml(std::string_view text) noexcept;

}  // namespace echoform
