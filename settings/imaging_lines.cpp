#include "settings/imaging_lines.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/text_file.hpp"
#include "settings/key_table.hpp"

namespace echoform {
namespace {

/// Sections of which every key counts, including keys that do not change while frames run.
constexpr std::array<std::string_view, 5> whole_sections{"probe", "acquisition", "surface", "backwall", "filter"};
/// Keys of a scan's own file, and of placements in recordings.
constexpr std::array<std::string_view, 4> of_files{"file", "save_every", "resume", "tolerance"};

bool makes_images(const Key& key) {
  if (key.section == "scan") return std::find(of_files.begin(), of_files.end(), key.name) == of_files.end();
  if (key.section == "display") return false;
  return key.live == LiveEffect::imaging || (key.section == "imaging" && key.name == "method") ||
         std::find(whole_sections.begin(), whole_sections.end(), key.section) != whole_sections.end();
}

/// The FNV-1a hash (Fowler, Noll, Vo) of 64 bits of the file that a key names. `shown` is the name as a TOML string.
std::string sum_of_file(const Key& key, const std::string& shown) {
  const std::string path = toml::parse("path = " + shown)["path"].value_or(std::string());
  const std::string name = fmt::format("[{}] {}", key.section, key.name);
  // For surfaces, their readers have accepted the file before, and limit its size.
  const std::string bytes = read_text_file(path, {.key = name,
                                                  .expected = "the file that was imaged with",
                                                  .maximum_bytes = std::uintmax_t{1} << 30,
                                                  .size_expected = "at most 1 GiB"});
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format(" ({} bytes, sum {:016x})", bytes.size(), sum);
}

}  // namespace

std::vector<std::string> imaging_lines(const Configuration& configuration) {
  std::vector<std::string> lines;
  for (const Key& key : configuration_keys()) {
    if (!makes_images(key) || !key.show) continue;
    const std::string value = key.show(configuration);
    if (value.empty() || value == "\"\"") continue;
    lines.push_back(fmt::format("[{}] {} = {}{}", key.section, key.name, value, key.names_file ? sum_of_file(key, value) : ""));
  }
  return lines;
}

}  // namespace echoform
