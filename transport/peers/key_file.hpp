#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace echoform {

/// "WHERE: FILE", or the file alone where nothing named it.
[[nodiscard]] std::string place_of(std::string_view where, const std::filesystem::path& file);

/// The whole of a small file that holds keys. Throws InputError, naming `where` as what asked for it, if it cannot be read, is no
/// plain file, or is larger than 1 MiB; and, if it is `secret`, where others than its owner and group have any access to it.
[[nodiscard]] std::string read_key_file(const std::filesystem::path& file, std::string_view where, bool secret);

}  // namespace echoform
