// Every section and key there is: of config/, methods, instruments, outputs and others. The reader, live control and the
// documentation follow from this table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace echoform {

/// Adds keys of an extension of a program, such as an endpoint, after all others. Call it before the first configuration is
/// read; throws std::logic_error afterwards.
void add_keys(KeyGroup group);

/// All sections, in the order of the documentation, and below all keys. The table is made at the first call: a program
/// registers its own methods and kinds of surfaces before. Throws InputError for a section or a key that is there twice,
/// and for a key without its section: then two extensions do not go together.
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
