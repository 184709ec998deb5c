// How keys that may change while frames run are changed in a configuration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace echoform {

/// Keys with a LiveEffect, in the order of the documentation.
[[nodiscard]] const std::vector<const Key*>& live_keys();
/// The live key with this path, such as "grid.x". Throws an InputError that states what is wrong and which key is nearest.
[[nodiscard]] const Key& live_key(std::string_view path);

/// A key by its path and its new value as the file would have it: "[-0.01, 0.01]", "6320", "\"hann\"". Texts and words may go
/// without quotes. Empty: as if the file did not set the key.
struct KeyChange {
  std::string path;
  std::string value;
};

/// The maximum length of a value; longer values are refused without reading.
inline constexpr std::size_t live_value_limit = 4096;

/// Puts the changes into `configuration`. Throws InputError, and nothing changes, for a key that is not live or named twice, or
/// a value that the file could not have.
void apply_changes(std::span<const KeyChange> changes, Configuration& configuration);

/// Live keys whose values differ.
[[nodiscard]] std::vector<const Key*> differing_keys(const Configuration& a, const Configuration& b);

}  // namespace echoform
