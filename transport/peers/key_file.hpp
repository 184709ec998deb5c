#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace echoform {

/// "WHERE: FILE", or the file alone where nothing named it.
[[nodiscard]] std::string place_of(std::string_view where, const std::filesystem::path& file);

/// The whole of a small file that holds keys, as read_text_file() reads it: of at most 1 MiB, and named by `where`, if that is
/// not empty, as what asked for it. Where it is `secret`, others than its owner and group may have no access to it.
[[nodiscard]] std::string read_key_file(const std::filesystem::path& file, std::string_view where, bool secret);

}  // namespace echoform
