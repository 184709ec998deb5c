#include "settings/live_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "settings/key_table.hpp"
#include "settings/toml_depth.hpp"

namespace echoform {
namespace {

/// Parses "1e3", "[1, 2]" or "\"text\"" as the value of a TOML line. The text holds no line break, so it is exactly one line.
toml::table parse_value(const std::string& value) {
  return toml::parse("value = " + value);
}

/// The texts of a list without quotes: "TT", "LL, TT" or "[LL, TT]". The result is empty if this is no list or has quotes.
toml::array plain_list(std::string_view value) {
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  toml::array list;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    std::string_view word = value.substr(begin, end - begin);
    word = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    if (word.empty() || word.find_first_of("[]{}\"'") != std::string_view::npos) return {};
    list.push_back(std::string(word));
    begin = end + 1;
  }
  return list;
}

void set_value(const Key& key, const std::string& value, std::string_view where, Configuration& into) {
  if (value.find_first_not_of(' ') == std::string::npos) return key.clear(into);
  if (value.size() > live_value_limit) {
    throw InputError(where, fmt::format("{} bytes", value.size()), fmt::format("at most {}", live_value_limit));
  }
  const bool control = std::any_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  toml::table line;
  try {
    if (!control && !find_deep_toml(value)) line = parse_value(value);
  } catch (const toml::parse_error&) {
    line.clear();
  }
  const toml::node* node = line.get("value");
  // Words may be given without quotes. So may texts, unless they look like something else.
  const toml::value<std::string> plain{value};
  const bool takes_text = !key.words.empty() || key.type == "text";
  if (node == nullptr && takes_text && value.front() != '"' && !control) node = &plain;
  const toml::array list = key.type == "list of texts" && !control ? plain_list(value) : toml::array{};
  if ((node == nullptr || !node->is_array()) && !list.empty()) node = &list;
  if (node == nullptr) throw InputError(where, fmt::format("\"{}\", which is no TOML value", value), key.expected());
  key.read(into, *node, where);
}

}  // namespace

const std::vector<const Key*>& live_keys() {
  static const std::vector<const Key*> keys = [] {
    std::vector<const Key*> live;
    for (const Key& key : configuration_keys()) {
      if (key.live) live.push_back(&key);
    }
    return live;
  }();
  return keys;
}

const Key& live_key(std::string_view path) {
  const std::size_t dot = std::min(path.rfind('.'), path.size());
  const std::string_view section = path.substr(0, dot);
  const std::string_view name = path.substr(std::min(dot + 1, path.size()));
  if (const Key* key = find_key(section, name)) {
    if (key->live) return *key;
    throw InputError(fmt::format("[{}] {}", key->section, key->name), "a change while the server runs",
                     "a change of the file and a restart: this key is not live");
  }
  if (path.size() > 100) throw InputError("settings", fmt::format("a key of {} bytes", path.size()), "SECTION.KEY of a live key");
  const Key& nearest = nearest_key(section, name.empty() ? section : name);
  throw InputError("settings", fmt::format("the unknown key \"{}\"", path),
                   fmt::format("SECTION.KEY of a live key; the nearest known one is {}.{}", nearest.section, nearest.name));
}

void apply_changes(std::span<const KeyChange> changes, Configuration& configuration) {
  Configuration changed = configuration;
  std::vector<const Key*> seen;
  for (const KeyChange& change : changes) {
    const Key& live = live_key(change.path);
    if (std::find(seen.begin(), seen.end(), &live) != seen.end()) {
      throw InputError("settings", fmt::format("the key {} twice", live.path()), "each key once");
    }
    seen.push_back(&live);
    set_value(live, change.value, fmt::format("[{}] {}", live.section, live.name), changed);
  }
  configuration = std::move(changed);
}

std::vector<const Key*> differing_keys(const Configuration& a, const Configuration& b) {
  std::vector<const Key*> keys;
  for (const Key* const key : live_keys()) {
    if (key->show(a) != key->show(b)) keys.push_back(key);
  }
  return keys;
}

}  // namespace echoform
