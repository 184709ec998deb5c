// The keys that may change while frames run, and how such changes are put into a configuration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "config/configuration.hpp"

namespace echoform {

struct Key;

/// What a change of a key costs. In order: the highest of several decides.
enum class LiveEffect : unsigned char {
  input,    ///< how frames are received: nothing is made anew
  display,  ///< how finished images are compressed: nothing is made anew
  imaging,  ///< a new plan with new delay tables, and an engine that takes over between two frames
};

namespace words {
inline constexpr auto live_effect = make_words(std::pair{LiveEffect::input, std::string_view("input")},
                                               std::pair{LiveEffect::display, std::string_view("display")},
                                               std::pair{LiveEffect::imaging, std::string_view("imaging")});
}  // namespace words

struct LiveKey {
  std::string_view section;
  std::string_view name;
  LiveEffect effect;

  /// "grid.x"
  [[nodiscard]] std::string path() const;
  /// Its line in the table of all keys.
  [[nodiscard]] const Key& key() const;
};

/// In the order of the documentation.
[[nodiscard]] const std::vector<LiveKey>& live_keys();
/// Null for a key that is fixed while the server runs, and for one that is not known.
[[nodiscard]] const LiveKey* find_live_key(std::string_view section, std::string_view name);
/// The same by path. Throws InputError that says what is wrong and which key is nearest.
[[nodiscard]] const LiveKey& live_key(std::string_view path);

/// A key by its path and its new value as the file would have it: "[-0.01, 0.01]", "6320", "\"hann\"". Texts and words may go
/// without quotes. Empty: as if the file did not set the key.
struct KeyChange {
  std::string path;
  std::string value;
};

/// Longer values are refused unread.
inline constexpr std::size_t live_value_limit = 4096;

/// Puts the changes into `configuration`. Throws InputError, and nothing changes, for a key that is not live or named twice, or
/// a value that the file could not have.
void apply_changes(std::span<const KeyChange> changes, Configuration& configuration);

/// Live keys whose values differ.
[[nodiscard]] std::vector<const LiveKey*> differing_keys(const Configuration& a, const Configuration& b);

}  // namespace echoform
