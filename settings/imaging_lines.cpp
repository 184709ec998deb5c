#include "settings/imaging_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "settings/key_table.hpp"

namespace echoform {
namespace {

/// Sections of which every key counts, also such as do not change while frames run.
constexpr std::array<std::string_view, 5> whole_sections{"probe", "acquisition", "surface", "backwall", "filter"};
/// Of a scan's own file, of placements in recordings.
constexpr std::array<std::string_view, 4> of_files{"file", "save_every", "resume", "tolerance"};

bool makes_images(const Key& key) {
  if (key.section == "scan") return std::find(of_files.begin(), of_files.end(), key.name) == of_files.end();
  if (key.section == "display") return false;
  return key.live == LiveEffect::imaging || (key.section == "imaging" && key.name == "method") ||
         std::find(whole_sections.begin(), whole_sections.end(), key.section) != whole_sections.end();
}

/// Fowler, Noll, Vo: FNV-1a of 64 bits.
std::string sum_of_file(const std::string& quoted) {
  std::ifstream file(quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2), std::ios::binary);
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  std::uint64_t bytes = 0;
  std::array<char, 65536> piece{};
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    const auto count = static_cast<std::size_t>(file.gcount());
    for (std::size_t k = 0; k < count; ++k) sum = (sum ^ static_cast<unsigned char>(piece[k])) * 0x100000001b3ULL;
    bytes += count;
  }
  return fmt::format(" ({} bytes, sum {:016x})", bytes, sum);
}

}  // namespace

std::vector<std::string> imaging_lines(const Configuration& configuration) {
  std::vector<std::string> lines;
  for (const Key& key : configuration_keys()) {
    if (!makes_images(key) || !key.show) continue;
    const std::string value = key.show(configuration);
    if (value.empty() || value == "\"\"") continue;
    lines.push_back(fmt::format("[{}] {} = {}{}", key.section, key.name, value, key.names_file ? sum_of_file(value) : ""));
  }
  return lines;
}

}  // namespace echoform
