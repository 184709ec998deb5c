#include "settings/reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "base/errors.hpp"
#include "base/text_file.hpp"
#include "settings/key_table.hpp"
#include "settings/toml_depth.hpp"

namespace echoform {
namespace {

// Larger files are not configurations; reading stops before they fill the memory.
constexpr std::uintmax_t size_limit = 1u << 20;

struct Reader {
  std::string_view name;

  [[nodiscard]] std::string place(const toml::source_region& source) const {
    return fmt::format("{}:{}", name, source.begin.line);
  }

  void read(const toml::table& root, Configuration& into) const {
    for (const auto& [section, node] : root) read_section(section.str(), section.source(), node, into);
  }

 private:
  /// A name from the file, as messages show it.
  static std::string shown(std::string_view name) {
    constexpr std::size_t longest = 100;
    return name.size() > longest ? fmt::format("{}...", name.substr(0, longest)) : std::string(name);
  }

  /// Returns null if there is no section of that name.
  static const Section* find_section(std::string_view name) {
    const auto& sections = configuration_sections();
    const auto found = std::ranges::find(sections, name, &Section::name);
    return found == sections.end() ? nullptr : &*found;
  }

  void read_section(std::string_view section, const toml::source_region& source, const toml::node& node,
                    Configuration& into) const {
    const Section* const known = find_section(section);
    if (known == nullptr && !node.is_table()) {
      throw InputError(place(source), fmt::format("the key {} outside any section", shown(section)), suggest_key(section, {}));
    }
    if (known == nullptr)
      throw InputError(place(source), fmt::format("the unknown section [{}]", shown(section)),
                       fmt::format("a known section; the nearest is [{}]", nearest_section(section).name));
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      throw InputError(place(source), fmt::format("\"{}\" used as a key", section), fmt::format("the section [{}]", section));
    }
    if (known->stated != nullptr) known->stated(into);
    for (const auto& [key, value] : *table) {
      // [input.micropulse] is a section within [input].
      const std::string within = fmt::format("{}.{}", section, key.str());
      if (value.is_table() && find_section(within) != nullptr) {
        read_section(within, key.source(), value, into);
        continue;
      }
      const Key* entry = find_key(section, key.str());
      if (entry == nullptr) {
        throw InputError(place(key.source()), fmt::format("the unknown key {} in [{}]", shown(key.str()), section),
                         suggest_key(key.str(), section));
      }
      entry->read(into, value, fmt::format("{}: [{}] {}", place(key.source()), section, entry->name));
    }
  }

  static std::string suggest_key(std::string_view key, std::string_view section) {
    const Key& nearest = nearest_key(section, key);
    return fmt::format("a known key; the nearest is {} in [{}]", nearest.name, nearest.section);
  }
};

}  // namespace

Configuration parse_configuration(std::string_view text, std::string_view name) {
  Configuration configuration;
  configuration.file = name;
  if (const auto line = find_deep_toml(text)) {
    throw InputError(fmt::format("{}:{}", name, *line),
                     fmt::format("keys or values nested more than {} levels deep", deepest_toml),
                     "keys and values as docs/configuration.md lists them");
  }
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw InputError(fmt::format("{}:{}", name, error.source().begin.line), fmt::format("a fault in the TOML ({})", what),
                     "valid TOML, each section and key once");
  }
  Reader{name}.read(root, configuration);
  return configuration;
}

Configuration load_configuration(const std::filesystem::path& path) {
  const std::string expected_size = fmt::format("a TOML file of at most {} bytes", size_limit);
  const TextFileRequest request{
      .key = {}, .expected = "a TOML file", .maximum_bytes = size_limit, .size_expected = expected_size};
  return parse_configuration(read_text_file(path, request), path.string());
}

}  // namespace echoform
