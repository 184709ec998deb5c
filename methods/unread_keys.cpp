#include "methods/unread_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/errors.hpp"
#include "config/common_keys.hpp"
#include "methods/display_settings.hpp"
#include "methods/registry.hpp"
#include "methods/shared_keys.hpp"

namespace echoform {
namespace {

/// Keys of images, and the owners of those that belong to one method.
struct ImagingKeys {
  std::vector<Key> keys;
  std::vector<const Method*> owners;                   ///< [key]; null: none
  std::map<std::string_view, const Method*> sections;  ///< sections that belong to one method
  std::map<std::string, std::size_t> by_path;
};

ImagingKeys find_keys() {
  ImagingKeys all;
  for (const auto& method : methods()) {
    method->add_keys(all.keys);
    all.owners.resize(all.keys.size(), method.get());
    for (const Section& section : method->sections()) all.sections.emplace(section.name, method.get());
  }
  add_filter_keys(all.keys);
  add_display_keys(all.keys);
  add_scan_keys(all.keys);
  for (Key& key : common_keys()) all.keys.push_back(std::move(key));
  all.owners.resize(all.keys.size(), nullptr);
  for (std::size_t k = 0; k < all.keys.size(); ++k) all.by_path.emplace(all.keys[k].path(), k);
  return all;
}

/// Methods of other programs are registered before the first configuration is read.
const ImagingKeys& imaging_keys() {
  static const ImagingKeys all = find_keys();
  return all;
}

bool declares(const Method& method, const Key& key) {
  const auto reads = method.reads();
  const auto named = [&](const std::string& name) { return std::ranges::find(*reads, name) != reads->end(); };
  return reads && (named(std::string(key.section)) || named(key.path())) && !named("!" + key.path());
}

bool is_of(const Method* owner, const Method& method, const Key& key) {
  return owner == &method || declares(method, key);
}

bool is_set(const Key& key, const Configuration& configuration) {
  static const Configuration untouched;
  return key.show && key.show(configuration) != key.show(untouched);
}

/// One of Key::only_where: "filter.kind=band".
struct Condition {
  std::string key;
  std::string value;   ///< empty: any
  bool other = false;  ///< any but this
};

std::vector<Condition> conditions_of(std::string_view text) {
  std::vector<Condition> conditions;
  constexpr std::string_view between = " or ";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + between.size(), text.size()));
    Condition& condition = conditions.emplace_back();
    const std::size_t equals = one.find('=');
    condition.other = equals != std::string_view::npos && one[equals - 1] == '!';
    condition.key = one.substr(0, condition.other ? equals - 1 : equals);
    if (equals != std::string_view::npos) condition.value = one.substr(equals + 1);
  }
  return conditions;
}

bool holds(const Condition& condition, const Configuration& configuration) {
  const ImagingKeys& all = imaging_keys();
  const auto found = all.by_path.find(condition.key);
  if (found == all.by_path.end()) return true;
  const Key& key = all.keys[found->second];
  if (condition.value.empty()) return is_set(key, configuration);
  const std::string value = key.show(configuration);
  const bool same = value == condition.value || value == "\"" + condition.value + "\"";
  return same != condition.other;
}

/// "[filter] kind = \"band\"": the setting with which the key has an effect; empty where it already has one.
std::string missing_condition(const Key& key, const Configuration& configuration) {
  std::string text;
  for (const Condition& condition : conditions_of(key.only_where)) {
    if (holds(condition, configuration)) return {};
    const std::size_t dot = condition.key.rfind('.');
    text += fmt::format("{}[{}] {}", text.empty() ? "" : " or ", condition.key.substr(0, dot), condition.key.substr(dot + 1));
    if (condition.value.empty()) {
      text += " is set";
    } else {
      text += fmt::format(" is {}{}", condition.other ? "not " : "", condition.value);
    }
  }
  return text;
}

std::string text_of(const Method& method) {
  return fmt::format("[imaging] method = \"{}\"", method.name());
}

/// Methods that read the key: "\"tfm\" or \"beams\"".
std::string readers_of(const Key& key, const Method* owner) {
  std::string names;
  for (const auto& method : methods()) {
    if (is_of(owner, *method, key)) names += fmt::format("{}\"{}\"", names.empty() ? "" : " or ", method->name());
  }
  return names;
}

}  // namespace

bool reads_key(const Method& method, const Key& key) {
  if (!method.reads()) return true;
  const ImagingKeys& all = imaging_keys();
  const auto found = all.by_path.find(key.path());
  if (found == all.by_path.end()) return true;
  const Method* const owner = all.owners[found->second];
  return is_of(owner, method, key) || readers_of(key, owner).empty();
}

void tell_unread_keys(const Configuration& configuration, const UnreadKeys& unread, ImagingSetup& setup) {
  for (const std::string& line : setup.unread) std::erase(setup.warnings, line);
  setup.unread = unread.warnings;
  const double range = section<OutputSection>(configuration).dynamic_range_db;
  const auto is_number = [](const RecipeOutput& output) { return shows_numbers(output.description.scale.kind); };
  if (range != OutputSection().dynamic_range_db && std::ranges::all_of(setup.recipe.outputs, is_number)) {
    setup.unread.push_back(fmt::format("{} = {} has no effect: images are shown as numbers, not in decibels",
                                       configuration.place("[output] dynamic_range_db"), range));
  }
  setup.warnings.insert(setup.warnings.end(), setup.unread.begin(), setup.unread.end());
}

UnreadKeys find_unread_keys(const Configuration& configuration, const Method& method, std::string_view by) {
  const std::string reader = by.empty() ? text_of(method) : std::string(by);
  UnreadKeys unread;
  if (!method.reads()) return unread;
  const ImagingKeys& all = imaging_keys();
  std::set<std::string_view> sections;
  for (std::size_t k = 0; k < all.keys.size(); ++k) {
    const Key& key = all.keys[k];
    const Method* const owner = all.owners[k];
    if (!is_set(key, configuration)) continue;
    const std::string place = configuration.place(fmt::format("[{}] {}", key.section, key.name));
    if (is_of(owner, method, key)) {
      if (const std::string where = missing_condition(key, configuration); !where.empty()) {
        unread.warnings.push_back(
            fmt::format("{} = {} has no effect: it counts where {}", place, key.show(configuration), where));
      }
      continue;
    }
    const std::string readers = readers_of(key, owner);
    if (readers.empty()) continue;
    const auto of_one = all.sections.find(key.section);
    const bool shared = of_one == all.sections.end() || key.unread == Unread::refused;
    if (!shared) {
      if (sections.insert(key.section).second) {
        unread.notes.push_back(fmt::format("{}: [{}] has no effect on images with {}: {} reads it", configuration.name(),
                                           key.section, reader, readers));
      }
      continue;
    }
    if (key.unread == Unread::refused) {
      throw InputError(place, fmt::format("{} with {}", key.show(configuration), reader),
                       by.empty() ? fmt::format("no such key, or the method {}, which reads it", readers) : "no such key");
    }
    unread.warnings.push_back(
        fmt::format("{} = {} has no effect on images with {}: {} reads it", place, key.show(configuration), reader, readers));
  }
  return unread;
}

}  // namespace echoform
