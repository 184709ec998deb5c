// Keys that are set but that the method in use does not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "methods/method.hpp"

namespace echoform {

/// Messages about unread keys, a line each.
struct UnreadKeys {
  std::vector<std::string> warnings;  ///< about sections that methods share
  std::vector<std::string> notes;     ///< about other methods' sections, one a section: a file may have several methods' sections
};

/// Finds the unread keys among those whose values differ from their defaults. Throws InputError for a key without which the
/// image would be wrong (Unread::refused). Sections of the program, of sources and of outputs are not considered. `by`
/// names in messages what does not read the keys; empty: the method.
[[nodiscard]] UnreadKeys find_unread_keys(const Configuration& configuration, const Method& method, std::string_view by = {});

/// Writes the warnings about these keys into the setup, in place of those of earlier settings. Adds a warning where a
/// dynamic range is stated for images that are not shown in decibels.
void tell_unread_keys(const Configuration& configuration, const UnreadKeys& unread, ImagingSetup& setup);

/// Whether the method reads the key. True for keys that belong to no method.
[[nodiscard]] bool reads_key(const Method& method, const Key& key);

}  // namespace echoform
