// Keys of the sections that every method may read. They choose options of stages, which methods compose, and positions.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

void add_filter_keys(std::vector<Key>& keys);   ///< FilterSection, filter_settings.hpp
void add_display_keys(std::vector<Key>& keys);  ///< OutputSection and DisplaySection, display_settings.hpp
void add_scan_keys(std::vector<Key>& keys);     ///< ScanSection, scan_settings.hpp

}  // namespace echoform
