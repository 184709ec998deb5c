// Sections and keys that all methods and programs share.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

/// The common sections, in the order of the documentation.
[[nodiscard]] std::vector<Section> common_sections();
/// Every key of these sections except the keys that methods add to them.
[[nodiscard]] std::vector<Key> common_keys();

// Parts of the table that have source files of their own.
void add_input_keys(std::vector<Key>& keys);
void add_scene_keys(std::vector<Key>& keys);
void add_security_keys(std::vector<Key>& keys);

}  // namespace echoform
