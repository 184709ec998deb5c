#include <algorithm>
#include <numeric>
#include <string>

#include "settings/key_table.hpp"

namespace echoform {
namespace {

/// This is longer than all names. A longer text is no misspelling, and the time for a distance grows with the length.
constexpr std::size_t longest_compared = 64;

/// Levenshtein's distance: insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

const Key* find_key(std::string_view section, std::string_view name) {
  for (const Key& key : configuration_keys()) {
    if (key.section == section && key.name == name) return &key;
  }
  return nullptr;
}

const Key& nearest_key(std::string_view section, std::string_view name) {
  name = name.substr(0, longest_compared);
  // For "velocity" in [material], longitudinal_velocity is nearer than another section's velocity.
  const auto has_word = [&](const Key& key) {
    return key.section == section && !name.empty() &&
           ('_' + std::string(key.name) + '_').find('_' + std::string(name) + '_') != std::string::npos;
  };
  const auto cost = [&](const Key& key) {
    return has_word(key) ? 0 : 2 * edit_distance(name, key.name) + (key.section == section ? 0 : 1);
  };
  const auto& all = configuration_keys();
  return *std::min_element(all.begin(), all.end(), [&](const Key& a, const Key& b) { return cost(a) < cost(b); });
}

const Section& nearest_section(std::string_view name) {
  name = name.substr(0, longest_compared);
  const auto& all = configuration_sections();
  return *std::min_element(all.begin(), all.end(), [&](const Section& a, const Section& b) {
    return edit_distance(name, a.name) < edit_distance(name, b.name);
  });
}

}  // namespace echoform
