#include <fmt/format.h>

#include "settings/key_table.hpp"

namespace echoform {
namespace {

/// Bars are escaped: a bar would end the cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string_view live_text(const Key& key) {
  if (!key.live) return "";
  if (*key.live == LiveEffect::instrument) return "live, by the instrument";
  return *key.live == LiveEffect::imaging ? "live" : "live, at once";
}

bool is_written(const Key& key) {
  // Defaults that a user would write are shown as code; defaults that come from elsewhere are shown as words.
  const char first = key.default_text.empty() ? ' ' : key.default_text.front();
  return first == '"' || first == '[' || first == '-' || (first >= '0' && first <= '9') || key.default_text == "true" ||
         key.default_text == "false";
}

}  // namespace

std::string configuration_markdown() {
  std::string text =
      "# Configuration\n"
      "\n"
      "One TOML file configures every command that takes `--config`. Every key may be left out. Values are SI (metres, seconds,\n"
      "hertz). An unknown section or key, a value of the wrong type or out of range, or a key given twice is refused with one "
      "line\n"
      "that names the file, the line and the key, and nothing runs.\n"
      "\n"
      "Keys marked *live* can also be changed while the server runs ([control.md](control.md)): *at once*, by an instrument that "
      "is\n"
      "told so, or by an engine that is built beside the one in work and takes over between two frames.\n"
      "\n"
      "This page is printed by `echoform info --config-keys`; do not edit it by hand.\n";
  for (const Section& section : configuration_sections()) {
    text += fmt::format(
        "\n## [{}]\n\n{}\n\n| key | type | unit | range | default | live | meaning |\n| --- | --- | --- | --- | --- | --- | --- "
        "|\n",
        section.name, section.help);
    for (const Key& key : configuration_keys()) {
      if (key.section != section.name) continue;
      const std::string shown = is_written(key) ? fmt::format("`{}`", key.default_text) : key.default_text;
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", key.name, cell(key.type), key.unit, cell(key.range), shown,
                          live_text(key), cell(key.help));
    }
  }
  return text;
}

}  // namespace echoform
