#include "settings/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/errors.hpp"
#include "config/common_keys.hpp"
#include "instruments/instrument.hpp"
#include "methods/registry.hpp"
#include "methods/shared_keys.hpp"
#include "transport/doors.hpp"

// The owners of sections and keys besides config/, methods, instruments and outputs, in one list: OWNER(NAME) is `KeyGroup
// NAME_keys()`, next to the code that reads the keys.
#define ECHOFORM_KEY_OWNERS(OWNER) OWNER(recorder) OWNER(dicom) OWNER(reconstruction) OWNER(simulator)

namespace echoform {

#define ECHOFORM_DECLARE(NAME) KeyGroup NAME##_keys();
ECHOFORM_KEY_OWNERS(ECHOFORM_DECLARE)
#undef ECHOFORM_DECLARE

namespace {

/// The keys of owners in this repository. Their sections follow the common ones, in this order.
const std::vector<KeyGroup>& owned_keys() {
  static const std::vector<KeyGroup> list = [] {
    std::vector<KeyGroup> all;
    for (const Instrument& instrument : instruments()) all.push_back(instrument.keys());
    for (SinkDoor& door : output_doors()) all.push_back(std::move(door.keys));
#define ECHOFORM_ADD(NAME) all.push_back(NAME##_keys());
    ECHOFORM_KEY_OWNERS(ECHOFORM_ADD)
#undef ECHOFORM_ADD
    return all;
  }();
  return list;
}

/// Puts a section behind the sections of its parent, as [input.micropulse] behind [input], or behind all.
void place_section(std::vector<Section>& list, const Section& section) {
  const std::string_view parent = section.name.substr(0, section.name.find('.'));
  const auto belongs = [&](const Section& other) {
    return other.name == parent || (other.name.starts_with(parent) && other.name.substr(parent.size()).starts_with('.'));
  };
  const auto last = std::find_if(list.rbegin(), list.rend(), belongs);
  list.insert(last == list.rend() ? list.end() : last.base(), section);
}

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
    // The keys of a method follow [imaging].
    auto place = std::find_if(list.begin(), list.end(), [](const Section& section) { return section.name == "imaging"; }) + 1;
    for (const auto& method : methods()) {
      const std::vector<Section> own = method->sections();
      place = list.insert(place, own.begin(), own.end()) + static_cast<std::ptrdiff_t>(own.size());
    }
    for (const KeyGroup& group : owned_keys()) {
      for (const Section& section : group.sections) place_section(list, section);
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
    for (Key& key : common_keys()) list.push_back(std::move(key));
    for (const KeyGroup& group : owned_keys()) list.insert(list.end(), group.keys.begin(), group.keys.end());
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
