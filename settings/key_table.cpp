#include "settings/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "base/errors.hpp"
#include "config/common_keys.hpp"
#include "methods/registry.hpp"
#include "methods/shared_keys.hpp"

namespace echoform {
namespace {

struct Groups {
  std::vector<KeyGroup> list;
  bool used = false;
};

Groups& groups() {
  static Groups all;
  return all;
}

template <class Entry, class Name>
void require_once(const std::vector<Entry>& list, const Name& name) {
  std::set<std::string> names;
  for (const Entry& entry : list) {
    if (!names.insert(name(entry)).second) throw InputError("keys", name(entry) + " twice", "each section and each key once");
  }
}

}  // namespace

void add_keys(KeyGroup group) {
  if (groups().used) throw std::logic_error("add_keys: found the table of keys in use; expected it before any configuration");
  groups().list.push_back(std::move(group));
}

const std::vector<Section>& configuration_sections() {
  static const std::vector<Section> sections = [] {
    std::vector<Section> list = common_sections();
    // What a method has of its own follows [imaging].
    auto place = std::find_if(list.begin(), list.end(), [](const Section& section) { return section.name == "imaging"; }) + 1;
    for (const auto& method : methods()) {
      const std::vector<Section> own = method->sections();
      place = list.insert(place, own.begin(), own.end()) + static_cast<std::ptrdiff_t>(own.size());
    }
    groups().used = true;
    for (const KeyGroup& group : groups().list) list.insert(list.end(), group.sections.begin(), group.sections.end());
    require_once(list, [](const Section& section) { return fmt::format("the section [{}]", section.name); });
    return list;
  }();
  return sections;
}

const std::vector<Key>& configuration_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> list{method_key()};
    for (const auto& method : methods()) method->add_keys(list);
    add_filter_keys(list);
    add_display_keys(list);
    add_scan_keys(list);
    std::vector<Key> common = common_keys();
    list.insert(list.end(), std::make_move_iterator(common.begin()), std::make_move_iterator(common.end()));
    for (const KeyGroup& group : groups().list) list.insert(list.end(), group.keys.begin(), group.keys.end());
    require_once(list, [](const Key& key) { return "the key " + key.path(); });
    const auto& sections = configuration_sections();
    const auto rank = [&](const Key& key) {
      return std::find_if(sections.begin(), sections.end(), [&](const Section& section) { return section.name == key.section; }) -
             sections.begin();
    };
    for (const Key& key : list) {
      if (rank(key) == static_cast<std::ptrdiff_t>(sections.size())) {
        throw InputError("keys", "the key " + key.path(), "one in a section that is there");
      }
    }
    std::stable_sort(list.begin(), list.end(), [&](const Key& a, const Key& b) { return rank(a) < rank(b); });
    return list;
  }();
  return keys;
}

}  // namespace echoform
