// Reads configurations from TOML files.
#pragma once

#include <filesystem>
#include <string_view>

#include "config/configuration.hpp"

namespace echoform {

/// Reads a TOML file. Throws InputError (one line: file and line, key, what was found, what is expected) for a file that
/// cannot be read, is not TOML, names an unknown section or key (the nearest known one is named), repeats a key, or holds
/// a value that is mistyped, not finite, out of range or of the wrong length.
[[nodiscard]] Configuration load_configuration(const std::filesystem::path& path);

/// The same from text; `name` stands for the file in messages.
[[nodiscard]] Configuration parse_configuration(std::string_view text, std::string_view name);

}  // namespace echoform
