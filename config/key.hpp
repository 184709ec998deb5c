// One row a key: its name, its values, where its value is stored and what a change of it costs. Reader, messages, live control
// and documentation follow from it (settings/key_table.hpp).
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "config/configuration.hpp"

namespace echoform {

/// What a change of a key costs while frames run, in ascending order: the highest of several decides.
enum class LiveEffect : unsigned char {
  instrument,  ///< sent to an instrument, where one is connected, between two of its frames
  input,       ///< how frames are received: nothing is made anew
  display,     ///< options that stages take as they run: nothing is made anew where they do
  imaging,     ///< resolved anew, with new delay tables, and an engine that takes over between two frames
};

namespace words {
inline constexpr auto live_effect = make_words(
    std::pair{LiveEffect::instrument, std::string_view("instrument")}, std::pair{LiveEffect::input, std::string_view("input")},
    std::pair{LiveEffect::display, std::string_view("display")}, std::pair{LiveEffect::imaging, std::string_view("imaging")});
}  // namespace words

/// What happens to a key that is set but that the method in use does not read.
enum class Unread : unsigned char {
  warned,   ///< a warning reports it
  refused,  ///< it is refused: the image would be wrong without it
};

struct Key {
  std::string_view section;
  std::string_view name;
  std::string type;                                       ///< "number", "two numbers", "one of full, half"
  std::string_view unit;                                  ///< "m", or empty
  std::string range;                                      ///< "more than 0, up to 1e5"; empty where the type says all
  double low = -std::numeric_limits<double>::infinity();  ///< bounds of its numbers; infinite where there are none
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> words;  ///< the values of a key that takes a word
  bool names_file = false;         ///< whether a text is the name of a file
  std::string default_text;        ///< as it would be written, or where the value comes from
  std::string_view help;
  std::optional<LiveEffect> live;  ///< none: fixed while the server runs
  Unread unread = Unread::warned;
  /// Values of other keys without which this one has no effect, which a warning says: "filter.kind=band",
  /// "imaging.adaptive!=none", "m_mode.line" (set at all), or several behind " or "; empty: it has one in any case.
  std::string only_where;
  /// Checks the value and stores it; throws InputError naming `where`.
  std::function<void(Configuration&, const toml::node&, std::string_view where)> read;
  /// The value as a file would have it; empty where nothing is set. No such function for lists of rows.
  std::function<std::string(const Configuration&)> show;
  /// As if the file had not set the key.
  std::function<void(Configuration&)> clear;

  /// "grid.x"
  [[nodiscard]] std::string path() const;
  /// "a number in m, more than 0"
  [[nodiscard]] std::string expected() const;
};

struct Section {
  std::string_view name;
  std::string_view help;
  /// Called where a file has the section, be it empty; null where that says nothing.
  void (*stated)(Configuration&) = nullptr;
};

/// Sections, and keys in them or in others.
struct KeyGroup {
  std::vector<Section> sections;
  std::vector<Key> keys;
};

}  // namespace echoform
