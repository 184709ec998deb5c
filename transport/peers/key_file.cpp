#include "transport/peers/key_file.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "base/text_file.hpp"

namespace echoform {

std::string place_of(std::string_view where, const std::filesystem::path& file) {
  return where.empty() ? file.string() : fmt::format("{}: {}", where, file.string());
}

std::string read_key_file(const std::filesystem::path& file, std::string_view where, bool secret) {
  try {
    return read_text_file(file, {.key = {},
                                 .expected = "a key file",
                                 .maximum_bytes = std::uintmax_t{1} << 20,
                                 .size_expected = "a key file of at most 1 MiB",
                                 .secret = secret});
  } catch (const InputError& error) {
    if (where.empty()) throw;
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace echoform
