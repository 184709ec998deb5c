// Whole files of text, and other small files: read to their end or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace echoform {

/// The requirements for a file, in the words of messages.
struct TextFileRequest {
  std::string_view key;            ///< the key or option that names the file ("[surface] file", "--token-file"); empty: none
  std::string_view expected;       ///< "a TOML file"
  std::uintmax_t maximum_bytes;    ///< a larger file is not read
  std::string_view size_expected;  ///< "a TOML file of at most 1 MiB"
  /// Nobody but the owner may have access, except that the group may read.
  bool secret = false;
};

/// All bytes of a regular file. A disk error in the middle of the file is never taken for its end. Throws InputError, "KEY:
/// found PATH, which ..." or, without a key, "PATH: found ...", for a file that is missing, no regular file (a pipe or a
/// device would never end), too large, open to others where it is a secret, not readable, or shorter when it was read than
/// when it was opened.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, const TextFileRequest& request);

}  // namespace echoform
