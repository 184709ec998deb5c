// The sections and keys of the total focusing method.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

[[nodiscard]] std::vector<Section> tfm_sections();
void add_tfm_keys(std::vector<Key>& keys);

}  // namespace echoform
