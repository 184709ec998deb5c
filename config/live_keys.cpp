#include "config/live_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "config/key_table.hpp"
#include "config/toml_depth.hpp"

namespace echoform {
namespace {

/// "1e3", "[1, 2]" or "\"text\"" as the value of a TOML line. The text holds no line break, so it is one line and no more.
toml::table parse_value(const std::string& value) {
  return toml::parse("value = " + value);
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
  // Words may go without quotes; so may texts, unless they look like something else.
  const toml::value<std::string> plain{value};
  const bool takes_text = !key.words.empty() || key.type == "text";
  if (node == nullptr && takes_text && value.front() != '"' && !control) node = &plain;
  if (node == nullptr) throw InputError(where, fmt::format("\"{}\", which is no TOML value", value), key.expected());
  key.read(into, *node, where);
}

/// The keys of surfaces follow those of the couplant. Names of files are not live: they would let peers have any file opened.
std::vector<LiveKey> with_surfaces(std::vector<LiveKey> keys) {
  auto place = std::find_if(keys.begin(), keys.end(), [](const LiveKey& key) { return key.section == "couplant"; }) + 1;
  for (const Key& key : configuration_keys()) {
    if ((key.section != "surface" && key.section != "backwall") || key.names_file) continue;
    place = keys.insert(place, {key.section, key.name, LiveEffect::imaging}) + 1;
  }
  return keys;
}

}  // namespace

const std::vector<LiveKey>& live_keys() {
  using enum LiveEffect;
  static const std::vector<LiveKey> keys = with_surfaces({
      {"material", "longitudinal_velocity", imaging},
      {"material", "shear_velocity", imaging},
      {"couplant", "velocity", imaging},
      {"grid", "x", imaging},
      {"grid", "z", imaging},
      {"grid", "y", imaging},
      {"grid", "pixels", imaging},
      {"imaging", "delay_law", imaging},
      {"imaging", "travel_times", imaging},
      {"imaging", "views", imaging},
      {"imaging", "interpolation", imaging},
      {"apodization", "window", imaging},
      {"apodization", "tukey_fraction", imaging},
      {"apodization", "sides", imaging},
      {"apodization", "directivity", imaging},
      {"apodization", "angle_limit", imaging},
      {"output", "dynamic_range_db", display},
      {"output", "gain_db", display},
      {"output", "reference", display},
      {"output", "reference_value", display},
      {"output", "running_fraction", display},
      {"display", "x", imaging},
      {"display", "z", imaging},
      {"display", "pixels", imaging},
      {"display", "interpolation", imaging},
      {"display", "cubic_alpha", imaging},
      {"probe", "stand_off", imaging},
      {"probe", "angle", imaging},
      {"probe", "x", imaging},
      {"acquisition", "time_offset", imaging},
      {"input", "drop_policy", input},
  });
  return keys;
}

std::string LiveKey::path() const {
  return fmt::format("{}.{}", section, name);
}

const Key& LiveKey::key() const {
  return *find_key(section, name);
}

const LiveKey* find_live_key(std::string_view section, std::string_view name) {
  const auto& all = live_keys();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LiveKey& k) { return k.section == section && k.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const LiveKey& live_key(std::string_view path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view section = path.substr(0, dot);
  const std::string_view name = path.substr(std::min(dot + 1, path.size()));
  if (const LiveKey* live = find_live_key(section, name)) return *live;
  if (const Key* key = find_key(section, name)) {
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
  std::vector<const LiveKey*> seen;
  for (const KeyChange& change : changes) {
    const LiveKey& live = live_key(change.path);
    if (std::find(seen.begin(), seen.end(), &live) != seen.end()) {
      throw InputError("settings", fmt::format("the key {} twice", live.path()), "each key once");
    }
    seen.push_back(&live);
    set_value(live.key(), change.value, fmt::format("[{}] {}", live.section, live.name), changed);
  }
  configuration = std::move(changed);
}

std::vector<const LiveKey*> differing_keys(const Configuration& a, const Configuration& b) {
  std::vector<const LiveKey*> keys;
  for (const LiveKey& live : live_keys()) {
    const Key& key = live.key();
    if (key.show(a) != key.show(b)) keys.push_back(&live);
  }
  return keys;
}

}  // namespace echoform
