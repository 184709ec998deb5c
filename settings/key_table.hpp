// Every section and key there is, of config/, methods, instruments, outputs and others that have some. Reader, live control and
// documentation follow from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace echoform {

/// Of something that a program brings along, such as a door: after all others. Before the first configuration is read;
/// std::logic_error afterwards.
void add_keys(KeyGroup group);

/// In the order of the documentation. Made when first asked for: a program registers its own methods and kinds of surfaces
/// before. Throws InputError for a section or a key that is there twice, and a key without its section: two that were brought
/// along do not go together.
[[nodiscard]] const std::vector<Section>& configuration_sections();
[[nodiscard]] const std::vector<Key>& configuration_keys();

/// Null where there is none.
[[nodiscard]] const Key* find_key(std::string_view section, std::string_view name);
/// The key whose name is nearest to what was written, with a preference for the section in which it was written.
[[nodiscard]] const Key& nearest_key(std::string_view section, std::string_view name);
[[nodiscard]] const Section& nearest_section(std::string_view name);

/// Every section and key with type, unit, default, range and one line of help, as Markdown: docs/configuration.md.
[[nodiscard]] std::string configuration_markdown();

}  // namespace echoform
