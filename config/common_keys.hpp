// Sections and keys that everybody shares.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

/// In the order of the documentation.
[[nodiscard]] std::vector<Section> common_sections();
/// Every key of these sections but those that methods have in them.
[[nodiscard]] std::vector<Key> common_keys();

// Parts of the table that stand in files of their own.
void add_input_keys(std::vector<Key>& keys);
void add_scene_keys(std::vector<Key>& keys);
void add_security_keys(std::vector<Key>& keys);

}  // namespace echoform
