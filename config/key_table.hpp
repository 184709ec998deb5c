// One line a key: what it is called, what it may hold, where it goes. Reader, messages and documentation follow from it.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"

namespace echoform {

struct Key {
  std::string_view section;
  std::string_view name;
  std::string type;          ///< "number", "two numbers", "one of full, half"
  std::string_view unit;     ///< "m", or empty
  std::string range;         ///< "more than 0, up to 1e5"; empty where the type says all
  std::string default_text;  ///< as it would be written, or where the value comes from
  std::string_view help;
  /// Checks the value and stores it; throws InputError naming `where`.
  std::function<void(Configuration&, const toml::node&, std::string_view where)> read;

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

// Parts of the table that stand in files of their own.
void add_input_keys(std::vector<Key>& keys);
void add_recorder_keys(std::vector<Key>& keys);

}  // namespace echoform
