// How the types of keys are read, shown and checked. Each maker gives a Key whose member is reached by a generic lambda.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

#include "base/errors.hpp"
#include "base/interval.hpp"
#include "base/text.hpp"
#include "config/key.hpp"

namespace echoform::keys {

/// Bounds of a number; infinite where there is none.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool infinite = false;  ///< whether inf and -inf may stand for a number

  [[nodiscard]] bool holds(double value) const { return (low_open ? value > low : value >= low) && value <= high; }
  [[nodiscard]] std::string text() const;
};

/// Above `low`, up to `high`.
[[nodiscard]] constexpr Range above(double low, double high) {
  return {low, high, true};
}
[[nodiscard]] constexpr Range within(double low, double high) {
  return {low, high, false};
}
/// The same range, in which inf and -inf are allowed too.
[[nodiscard]] constexpr Range or_infinite(Range range) {
  range.infinite = true;
  return range;
}
[[nodiscard]] constexpr Range within(const Interval& range) {
  return within(range.least, range.most);
}

/// What a key is called and means; `otherwise` says where an absent value comes from, `live` what a change while frames run
/// costs.
struct Entry {
  std::string_view section;
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  std::string_view otherwise = {};
  std::optional<LiveEffect> live = {};
};

[[nodiscard]] std::string describe(const toml::node& node);
[[noreturn]] void refuse(std::string_view where, const toml::node& node, std::string_view expected);

// The readers behind the makers. Each throws InputError with `expected` as the last part of the line.
[[nodiscard]] double read_number(const toml::node& node, std::string_view where, std::string_view expected, Range range);
[[nodiscard]] std::int64_t read_integer(const toml::node& node, std::string_view where, std::string_view expected, Range range);
[[nodiscard]] std::string read_text(const toml::node& node, std::string_view where, std::string_view expected);
[[nodiscard]] bool read_boolean(const toml::node& node, std::string_view where, std::string_view expected);
[[nodiscard]] const toml::array& read_array(const toml::node& node, std::string_view where, std::string_view expected,
                                            std::size_t least, std::size_t most);

// Members: a plain value, a quantity, or an optional of either.
template <std::floating_point T>
void assign(T& member, double value) {
  member = value;
}
template <std::integral T>
void assign(T& member, double value) {
  member = static_cast<T>(value);
}
template <int L, int T>
void assign(Quantity<L, T>& member, double value) {
  member = Quantity<L, T>(value);
}
template <class T>
void assign(std::optional<T>& member, double value) {
  member.emplace();
  assign(*member, value);
}

[[nodiscard]] inline std::string show(double value) {
  return fmt::format("{}", value);
}
[[nodiscard]] inline std::string show(std::integral auto value) {
  return fmt::format("{}", value);
}
[[nodiscard]] inline std::string show(bool value) {
  return value ? "true" : "false";
}
/// A TOML string.
[[nodiscard]] std::string show(const std::string& value);
template <int L, int T>
[[nodiscard]] std::string show(Quantity<L, T> value) {
  return show(value.value);
}
template <class T, std::size_t N>
[[nodiscard]] std::string show(const std::array<T, N>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + show(value);
  return "[" + text + "]";
}
template <class T>
[[nodiscard]] std::string show(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + show(value);
  return "[" + text + "]";
}
template <class T>
[[nodiscard]] std::string show(const std::optional<T>& value) {
  return value ? show(*value) : std::string();
}

/// The key without its reader.
[[nodiscard]] Key make_key(const Entry& entry, std::string type, std::string range, std::string default_text);

/// The configuration with its defaults.
[[nodiscard]] const Configuration& defaults();

template <class Get>
[[nodiscard]] std::string default_of(Get get) {
  return show(get(defaults()));
}

template <class Get>
[[nodiscard]] auto clearing(Get get) {
  return [get](Configuration& into) { get(into) = get(defaults()); };
}

/// Sets how the value is shown and cleared.
template <class Get>
void show_member(Key& key, Get get) {
  key.show = [get](const Configuration& from) { return show(get(from)); };
  key.clear = clearing(get);
}

inline void set_bounds(Key& key, Range range) {
  key.low = range.low;
  key.high = range.high;
}

template <class Get>
[[nodiscard]] Key number(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "number", range.text(), default_of(get));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    assign(get(into), read_number(node, where, expected, range));
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

template <class Get>
[[nodiscard]] Key integer(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "integer", range.text(), default_of(get));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    using Member = std::remove_cvref_t<decltype(get(into))>;
    get(into) = static_cast<Member>(read_integer(node, where, expected, range));
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

template <class Get>
[[nodiscard]] Key boolean(const Entry& entry, Get get) {
  Key key = make_key(entry, "true or false", "", default_of(get));
  key.read = [get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    get(into) = read_boolean(node, where, expected);
  };
  show_member(key, get);
  return key;
}

/// `check(text, where)` throws InputError for a text that is not acceptable.
using TextCheck = void (*)(const std::string& text, std::string_view where, std::string_view expected);
void any_text(const std::string& text, std::string_view where, std::string_view expected);
void not_empty(const std::string& text, std::string_view where, std::string_view expected);
void address_port(const std::string& text, std::string_view where, std::string_view expected);
void address_port_or_none(const std::string& text, std::string_view where, std::string_view expected);

template <class Get>
[[nodiscard]] Key text(const Entry& entry, std::string range, TextCheck check, Get get) {
  Key key = make_key(entry, "text", std::move(range), default_of(get));
  key.read = [check, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    std::string value = read_text(node, where, expected);
    check(value, where, expected);
    get(into) = std::move(value);
  };
  show_member(key, get);
  return key;
}

template <class Member>
struct OptionalOf {
  using type = Member;
};
template <class T>
struct OptionalOf<std::optional<T>> {
  using type = T;
};

/// A word of an enumeration.
template <class WordTable, class Get>
[[nodiscard]] Key word(const Entry& entry, const WordTable& words, Get get) {
  using Member = std::remove_cvref_t<decltype(get(defaults()))>;
  std::string default_text;
  if constexpr (std::is_enum_v<Member>) default_text = fmt::format("\"{}\"", words.of(get(defaults())));
  Key key = make_key(entry, "one of " + words.list(), "", std::move(default_text));
  key.read = [words, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string value = read_text(node, where, expected);
    const auto found = words.from(value);
    if (!found) refuse(where, node, expected);
    get(into) = *found;
  };
  for (const auto& [value, text] : words.entries) key.words.emplace_back(text);
  key.clear = clearing(get);
  key.show = [words, get](const Configuration& from) {
    const std::optional<typename OptionalOf<Member>::type> value = get(from);
    return value ? show(std::string(words.of(*value))) : std::string();
  };
  return key;
}

/// A text that is one of some names.
template <class Get>
[[nodiscard]] Key name(const Entry& entry, std::vector<std::string> names, Get get) {
  Key key = make_key(entry, fmt::format("one of {}", fmt::join(names, ", ")), "", default_of(get));
  key.words = std::move(names);
  key.read = [known = key.words, get, expected = key.expected()](Configuration& into, const toml::node& node,
                                                                 std::string_view where) {
    std::string value = read_text(node, where, expected);
    if (std::find(known.begin(), known.end(), value) == known.end()) refuse(where, node, expected);
    get(into) = std::move(value);
  };
  show_member(key, get);
  return key;
}

/// Two numbers, e.g. the first and the last pixel centre.
template <class Get>
[[nodiscard]] Key number_pair(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "two numbers", range.text(), default_of(get));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const toml::array& values = read_array(node, where, expected, 2, 2);
    typename OptionalOf<std::remove_cvref_t<decltype(get(into))>>::type pair{};
    for (std::size_t i = 0; i < 2; ++i) assign(pair[i], read_number(values[i], where, expected, range));
    get(into) = pair;
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

/// Three numbers along x, y and z, stored in an array.
template <class Get>
[[nodiscard]] Key number_triple(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "three numbers", range.text(), default_of(get));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const toml::array& values = read_array(node, where, expected, 3, 3);
    typename OptionalOf<std::remove_cvref_t<decltype(get(into))>>::type triple{};
    for (std::size_t i = 0; i < 3; ++i) assign(triple[i], read_number(values[i], where, expected, range));
    get(into) = triple;
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

template <class Get>
[[nodiscard]] Key integer_pair(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "two integers", range.text(), default_of(get));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const toml::array& values = read_array(node, where, expected, 2, 2);
    typename OptionalOf<std::remove_cvref_t<decltype(get(into))>>::type pair;
    for (std::size_t i = 0; i < 2; ++i) pair[i] = static_cast<std::size_t>(read_integer(values[i], where, expected, range));
    get(into) = pair;
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

/// One number, or two of which the second may not be the first: shown as one where they are equal. Of an
/// optional<array<quantity, 2>>.
template <class Get>
[[nodiscard]] Key number_or_pair(const Entry& entry, Range range, Get get) {
  Key key = make_key(entry, "one or two numbers", range.text(), "");
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    auto& ends = get(into).emplace();
    if (!node.is_array()) {
      assign(ends[0], read_number(node, where, expected, range));
      ends[1] = ends[0];
      return;
    }
    const toml::array& values = read_array(node, where, expected, 2, 2);
    for (std::size_t i = 0; i < 2; ++i) assign(ends[i], read_number(values[i], where, expected, range));
  };
  set_bounds(key, range);
  key.show = [get](const Configuration& from) {
    const auto& ends = get(from);
    return ends && (*ends)[0] == (*ends)[1] ? show((*ends)[0]) : show(ends);
  };
  key.clear = clearing(get);
  return key;
}

/// [nx, nz], or [nx, ny, nz] of volumes.
template <class Get>
[[nodiscard]] Key grid_pixels(const Entry& entry, Range range, Get get) {
  const auto shown = [get](const Configuration& from) {
    const GridPixels pixels = get(from);
    return pixels.y == 1 ? show(std::array{pixels.x, pixels.z}) : show(std::array{pixels.x, pixels.y, pixels.z});
  };
  Key key = make_key(entry, "two or three integers", range.text(), shown(Configuration()));
  key.read = [range, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const toml::array& values = read_array(node, where, expected, 2, 3);
    const auto count = [&](std::size_t i) { return static_cast<std::size_t>(read_integer(values[i], where, expected, range)); };
    get(into) = values.size() == 3 ? GridPixels{count(0), count(1), count(2)} : GridPixels{count(0), count(1)};
  };
  set_bounds(key, range);
  key.show = shown;
  key.clear = clearing(get);
  return key;
}

template <class Get>
[[nodiscard]] Key text_list(const Entry& entry, std::size_t least, std::size_t most, Get get) {
  const std::string count = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  Key key = make_key(entry, "list of texts", count + " of them", default_of(get));
  key.read = [least, most, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    std::vector<std::string> list;
    for (const toml::node& value : read_array(node, where, expected, least, most))
      list.push_back(read_text(value, where, expected));
    get(into) = std::move(list);
  };
  show_member(key, get);
  return key;
}

template <class Get>
[[nodiscard]] Key integer_list(const Entry& entry, Range range, std::size_t most, Get get) {
  Key key = make_key(entry, "list of integers", range.text(), default_of(get));
  key.read = [range, most, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    std::vector<std::size_t> list;
    for (const toml::node& value : read_array(node, where, expected, 0, most)) {
      list.push_back(static_cast<std::size_t>(read_integer(value, where, expected, range)));
    }
    get(into) = std::move(list);
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

template <class Get>
[[nodiscard]] Key number_list(const Entry& entry, Range range, std::size_t most, Get get) {
  Key key = make_key(entry, "list of numbers", range.text(), default_of(get));
  key.read = [range, most, get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    typename std::remove_cvref_t<decltype(get(into))> list;
    for (const toml::node& value : read_array(node, where, expected, 0, most)) {
      assign(list.emplace_back(), read_number(value, where, expected, range));
    }
    get(into) = std::move(list);
  };
  set_bounds(key, range);
  show_member(key, get);
  return key;
}

/// The minimum and the maximum count of numbers in a row of a list.
struct RowWidth {
  std::size_t least;
  std::size_t most;
};

/// A list of rows of numbers; `fill(row, values)` fills one.
template <class Row, class Get>
[[nodiscard]] Key number_rows(const Entry& entry, std::string_view row_text, RowWidth columns, std::size_t most, Get get,
                              void (*fill)(Row&, std::span<const double>), Range range = {}) {
  Key key = make_key(entry, fmt::format("list of {}", row_text), fmt::format("up to {} of them", most), "");
  key.read = [columns, most, get, fill, range, expected = key.expected()](Configuration& into, const toml::node& node,
                                                                          std::string_view where) {
    std::vector<Row> rows;
    for (const toml::node& item : read_array(node, where, expected, 0, most)) {
      std::vector<double> values;
      for (const toml::node& value : read_array(item, where, expected, columns.least, columns.most)) {
        values.push_back(read_number(value, where, expected, range));
      }
      fill(rows.emplace_back(), values);
    }
    get(into) = std::move(rows);
  };
  return key;
}

}  // namespace echoform::keys
