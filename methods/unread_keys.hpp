// Keys that are set, and that the method in use does not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "methods/method.hpp"

namespace echoform {

/// What they come to, a line each.
struct UnreadKeys {
  std::vector<std::string> warnings;  ///< of sections that methods share
  std::vector<std::string> notes;     ///< of other methods' sections, one a section: a file may have those of several methods
};

/// Of keys whose values are not what they are by default. Throws InputError for one without which the image would be wrong
/// (Unread::refused). Sections of the program, of sources and of outputs are nobody's here.
/// `by` is how messages call who does not read them; empty: the method.
[[nodiscard]] UnreadKeys find_unread_keys(const Configuration& configuration, const Method& method, std::string_view by = {});

/// Puts the warnings of these keys into the setup, in the place of those that it has of earlier settings, and one where a dynamic
/// range is stated for images that are not shown in decibels.
void tell_unread_keys(const Configuration& configuration, const UnreadKeys& unread, ImagingSetup& setup);

/// Whether the method reads the key of that path: "grid.x". True for keys that are no method's.
[[nodiscard]] bool reads_key(const Method& method, const Key& key);

}  // namespace echoform
