// Keys of the method of scan lines, all in sections of the method.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

[[nodiscard]] std::vector<Section> beams_sections();
void add_beams_keys(std::vector<Key>& keys);
/// Adds the keys of images that scroll.
void add_scrolling_keys(std::vector<Key>& keys);

}  // namespace echoform
