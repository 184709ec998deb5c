#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace echoform {

/// "WHERE: FILE", or the file alone where nothing named it.
[[nodiscard]] std::string place_of(std::string_view where, const std::filesystem::path& file);

/// The text of a file of keys of at most 1 MiB, read by read_text_file(). Errors name `where`, if that is not empty, as the
/// setting that asked for the file. A `secret` file must not be accessible to others than its owner and group.
[[nodiscard]] std::string read_key_file(const std::filesystem::path& file, std::string_view where, bool secret);

}  // namespace echoform
