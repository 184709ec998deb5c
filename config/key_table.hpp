// One line a key: what it is called, what it may hold, where it goes. Reader, messages and documentation follow from it.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

struct Key {
  std::string_view section;
  std::string_view name;
  std::string type;                                       ///< "number", "two numbers", "one of full, half"
  std::string_view unit;                                  ///< "m", or empty
  std::string range;                                      ///< "more than 0, up to 1e5"; empty where the type says all
  double low = -std::numeric_limits<double>::infinity();  ///< bounds of its numbers; infinite where there are none
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> words;  ///< the values of a key that takes a word
  bool names_file = false;         ///< of a text
  std::string default_text;        ///< as it would be written, or where the value comes from
  std::string_view help;
  /// Checks the value and stores it; throws InputError naming `where`.
  std::function<void(Configuration&, const toml::node&, std::string_view where)> read;
  /// The value as a file would have it; empty where nothing is set. No such function for lists of rows.
  std::function<std::string(const Configuration&)> show;
  /// As if the file had not set the key.
  std::function<void(Configuration&)> clear;

  /// "a number in m, more than 0"
  [[nodiscard]] std::string expected() const;
};

struct Section {
  std::string_view name;
  std::string_view help;
};

/// In the order of the documentation.
[[nodiscard]] const std::vector<Section>& configuration_sections();
[[nodiscard]] const std::vector<Key>& configuration_keys();

/// Null where there is none.
[[nodiscard]] const Key* find_key(std::string_view section, std::string_view name);
/// The key whose name is nearest to what was written, with a preference for the section in which it was written.
[[nodiscard]] const Key& nearest_key(std::string_view section, std::string_view name);
[[nodiscard]] const Section& nearest_section(std::string_view name);
// Parts of the table that stand in files of their own.
void add_input_keys(std::vector<Key>& keys);
void add_recorder_keys(std::vector<Key>& keys);
void add_scene_keys(std::vector<Key>& keys);
void add_security_keys(std::vector<Key>& keys);

}  // namespace echoform
