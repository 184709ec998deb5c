#include "settings/hidden_folders.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/key_table.hpp"

namespace echoform {
namespace {

/// Parses a value as keys show it; the table is empty if the value is not TOML.
toml::table parse(const std::string& shown) {
  try {
    return toml::parse("value = " + shown);
  } catch (const toml::parse_error&) {
    return {};
  }
}

/// The texts with a folder among the values of all keys: a path may stand wherever a text does.
std::set<std::string> texts_with_folders(const Configuration& configuration) {
  std::set<std::string> texts;
  const auto add = [&](const toml::node& node) {
    if (const auto* const text = node.as_string(); text != nullptr && text->get().find('/') != std::string::npos)
      texts.insert(text->get());
  };
  for (const Key& key : configuration_keys()) {
    if (!key.show) continue;
    const std::string shown = key.show(configuration);
    if (shown.find('/') == std::string::npos) continue;
    // A value that is not TOML is not a text.
    const toml::table line = parse(shown);
    const toml::node* const value = line.get("value");
    if (value == nullptr) continue;
    add(*value);
    if (const toml::array* const list = value->as_array()) std::for_each(list->begin(), list->end(), add);
  }
  return texts;
}

}  // namespace

std::string without_folders(std::string line, const Configuration& configuration) {
  if (line.find('/') == std::string::npos) return line;
  std::vector<std::pair<std::string, std::string>> names;  // paths, and their last components
  const auto add = [&](const std::filesystem::path& path) {
    const std::filesystem::path whole = path.has_filename() ? path : path.parent_path();
    if (whole.has_parent_path() && whole.has_filename()) names.emplace_back(whole.string(), whole.filename().string());
  };
  add(configuration.file);
  for (const std::string& text : texts_with_folders(configuration)) {
    add(text);
    add(named_file(configuration, text));
  }
  if (const auto folder = std::filesystem::path(configuration.file).parent_path(); !folder.empty())
    names.emplace_back(folder.string() + "/", "");  // for files that the configuration names without a folder
  // A path that is part of another one comes after it.
  std::ranges::sort(names, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [path, name] : names) {
    for (std::size_t at = line.find(path); at != std::string::npos; at = line.find(path, at + name.size()))
      line.replace(at, path.size(), name);
  }
  return line;
}

}  // namespace echoform
