// Enumerations as the words that users see.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace echoform {

/// A table of an enumeration's values and their words, in the order in which they are listed to users.
template <class Enum, std::size_t Count>
struct Words {
  std::array<std::pair<Enum, std::string_view>, Count> entries;

  [[nodiscard]] constexpr std::string_view of(Enum value) const {
    for (const auto& [entry, word] : entries) {
      if (entry == value) return word;
    }
    return "unknown";
  }
  [[nodiscard]] constexpr std::optional<Enum> from(std::string_view text) const {
    for (const auto& [entry, word] : entries) {
      if (word == text) return entry;
    }
    return std::nullopt;
  }
  /// "full, half, half_summed"
  [[nodiscard]] std::string list() const {
    std::string text;
    for (const auto& [entry, word] : entries) {
      if (!text.empty()) text += ", ";
      text += word;
    }
    return text;
  }
};

template <class Enum, class... Rest>
[[nodiscard]] constexpr auto make_words(std::pair<Enum, std::string_view> first, Rest... rest) {
  return Words<Enum, 1 + sizeof...(Rest)>{{first, rest...}};
}

/// The same from a list in braces, as macros write it.
template <class Enum, std::size_t Count>
[[nodiscard]] constexpr auto words_of(const std::pair<Enum, std::string_view> (&entries)[Count]) {
  return Words<Enum, Count>{std::to_array(entries)};
}

namespace words {

/// An entry of such a table, for make_words().
template <class Enum>
using Word = std::pair<Enum, std::string_view>;

}  // namespace words
}  // namespace echoform
