// The keys of [couplant], and those of [surface] and [backwall], which follow from the kinds of surfaces.
#include <deque>

#include "config/common_keys.hpp"
#include "config/key_types.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

using SectionOf = SurfaceSection& (*)(Configuration&);

/// A parameter of one name that several kinds may share, with the statements of all of them: a key of that name accepts what any
/// of these kinds accepts.
struct SharedParameter {
  SurfaceParameter first;
  std::string help;
  std::string otherwise;
};

/// Keys refer to texts; the texts here live as long as the table.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

std::vector<SharedParameter> shared_parameters() {
  std::vector<SharedParameter> all;
  for (const SurfaceKind& kind : surface_kinds()) {
    for (const SurfaceParameter& parameter : kind.parameters) {
      const auto same = [&](const SharedParameter& other) { return other.first.name == parameter.name; };
      auto found = std::find_if(all.begin(), all.end(), same);
      if (found == all.end()) {
        found = all.insert(all.end(), {parameter, "", ""});
        found->otherwise = parameter.otherwise ? show(*parameter.otherwise)
                                               : std::string(parameter.word && !parameter.file ? "by the kind" : "none");
      }
      if (found->first.word != parameter.word) {
        throw InputError(fmt::format("surface kind \"{}\"", kind.name),
                         fmt::format("the parameter {} as a {}", parameter.name, parameter.word ? "word" : "number"),
                         "what other kinds have by that name");
      }
      if (found->first.unit != parameter.unit) {
        throw InputError(fmt::format("surface kind \"{}\"", kind.name),
                         fmt::format("the parameter {} in {}", parameter.name, parameter.unit),
                         fmt::format("{}, as other kinds have it", found->first.unit));
      }
      if (found->first.otherwise != parameter.otherwise) found->otherwise = "by the kind";
      found->first.low = std::min(found->first.low, parameter.low);
      found->first.high = std::max(found->first.high, parameter.high);
      found->first.file = found->first.file || parameter.file;
      found->help += fmt::format("{}{}: {}", found->help.empty() ? "" : " ", kind.name, parameter.meaning);
    }
  }
  return all;
}

const SurfaceSection& section_of(SectionOf get, const Configuration& from) {
  return get(const_cast<Configuration&>(from));  // NOLINT(cppcoreguidelines-pro-type-const-cast): read and no more
}

Key kind_key(std::string_view section, SectionOf get) {
  std::string list;
  std::string meanings;
  std::vector<std::string> names;
  for (const SurfaceKind& kind : surface_kinds()) {
    list += (list.empty() ? "" : ", ") + kind.name;
    meanings += fmt::format(" {}: {}", kind.name, kind.meaning);
    names.push_back(kind.name);
  }
  const Entry entry{section, "kind", "", kept("What it is." + meanings), "none", LiveEffect::imaging};
  Key key = make_key(entry, "one of " + list, "", "");
  key.read = [get, names, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    std::string kind = read_text(node, where, expected);
    if (std::find(names.begin(), names.end(), kind) == names.end()) refuse(where, node, expected);
    get(into).kind = std::move(kind);
  };
  key.words = names;
  key.show = [get](const Configuration& from) {
    const std::string& kind = section_of(get, from).kind;
    return kind.empty() ? std::string() : show(kind);
  };
  key.clear = [get](Configuration& into) { get(into).kind.clear(); };
  return key;
}

Key number_key(std::string_view section, const SharedParameter& parameter, SectionOf get) {
  const std::string name(parameter.first.name);
  const Range range = within(parameter.first.low, parameter.first.high);
  Key key = make_key({section, parameter.first.name, parameter.first.unit, kept(parameter.help), {}, LiveEffect::imaging},
                     "number", range.text(), parameter.otherwise);
  key.read = [get, name, range, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    get(into).numbers[name] = read_number(node, where, expected, range);
  };
  set_bounds(key, range);
  key.show = [get, name](const Configuration& from) {
    const auto& numbers = section_of(get, from).numbers;
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::string() : show(found->second);
  };
  key.clear = [get, name](Configuration& into) { get(into).numbers.erase(name); };
  return key;
}

Key word_key(std::string_view section, const SharedParameter& parameter, SectionOf get) {
  const std::string name(parameter.first.name);
  Key key = make_key({section, parameter.first.name, "", kept(parameter.help)}, "text", "", parameter.otherwise);
  key.names_file = parameter.first.file;
  // Names of files are not live: otherwise peers could have any file opened.
  if (!key.names_file) key.live = LiveEffect::imaging;
  key.read = [get, name, file = key.names_file, expected = key.expected()](Configuration& into, const toml::node& node,
                                                                           std::string_view where) {
    std::string value = read_text(node, where, expected);
    if (file && value.empty()) refuse(where, node, "the name of a file, relative to the configuration's folder");
    get(into).words[name] = file ? named_file(into, value).string() : std::move(value);
  };
  key.show = [get, name](const Configuration& from) {
    const auto& words = section_of(get, from).words;
    const auto found = words.find(name);
    return found == words.end() ? std::string() : show(found->second);
  };
  key.clear = [get, name](Configuration& into) { get(into).words.erase(name); };
  return key;
}

void add_surface_keys(std::vector<Key>& k, std::string_view section, Unread unread, SectionOf get) {
  const auto add = [&](Key key) {
    key.unread = unread;
    k.push_back(std::move(key));
  };
  add(kind_key(section, get));
  for (const SharedParameter& parameter : shared_parameters()) {
    add(parameter.first.word ? word_key(section, parameter, get) : number_key(section, parameter, get));
  }
}

}  // namespace

void add_scene_keys(std::vector<Key>& k) {
  k.push_back(number(
      {"couplant", "velocity", "m/s", "Speed of sound in the couplant, or of longitudinal waves in the wedge.", "none",
       LiveEffect::imaging},
      within(10.0, 20000.0), [](auto& c) -> auto& { return c.couplant.velocity; }));
  k.back().unread = Unread::refused;
  add_surface_keys(k, "surface", Unread::refused, [](Configuration& c) -> SurfaceSection& { return c.surface; });
  // The backwall lies behind what other methods image, so no image is wrong without it.
  add_surface_keys(k, "backwall", Unread::warned, [](Configuration& c) -> SurfaceSection& { return c.backwall; });
}

}  // namespace echoform
