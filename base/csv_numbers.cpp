#include "base/csv_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/errors.hpp"
#include "base/text_file.hpp"

namespace echoform {
namespace {

constexpr std::uintmax_t largest_csv = std::uintmax_t{1} << 20;

double number_of(std::string_view text, const std::string& where, std::string_view expected) {
  // std::strtod would accept hexadecimal numbers too.
  const bool plain = text.find_first_of(std::string_view("xXpP\0", 5)) == std::string_view::npos;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  while (end != nullptr && (*end == ' ' || *end == '\t' || *end == '\r')) ++end;
  if (!plain || end == copy.c_str() || *end != '\0' || !std::isfinite(value)) {
    throw InputError(where, fmt::format("\"{}\"", text.substr(0, 40)), expected);
  }
  return value;
}

/// Whether a line begins with a word, as a heading does. Some numbers look like words: "nan", "inf".
bool begins_with_word(const std::string& line, std::size_t begin) {
  const char first = line[begin];
  if (!((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'))) return false;
  std::string field = line.substr(begin, line.find(',', begin) - begin);
  field.erase(field.find_last_not_of(" \t\r") + 1);
  char* end = nullptr;
  static_cast<void>(std::strtod(field.c_str(), &end));
  return *end != '\0';
}

}  // namespace

std::vector<std::vector<double>> read_csv_numbers(const std::string& path, const std::string& key, const CsvFormat& format) {
  const std::string text =
      read_text_file(path, {.key = key, .expected = format.file, .maximum_bytes = largest_csv, .size_expected = "at most 1 MiB"});
  std::vector<std::vector<double>> rows;
  bool begun = false;
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    from = end + 1;
    ++number;
    const std::string where = fmt::format("{}, line {}", path, number);
    if (line.size() > 1024) throw InputError(where, "a line of more than 1024 bytes", format.line);
    if (line.find('\0') != std::string::npos) {
      throw InputError(where, "a byte of 0", fmt::format("text in ASCII or UTF-8: {}", format.line));
    }
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // UTF-8's byte order mark
    if (const std::size_t remark = line.find('#'); remark != std::string::npos) line.resize(remark);
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    if (!std::exchange(begun, true) && begins_with_word(line, begin)) continue;
    std::vector<std::string_view> fields;
    for (std::size_t begin_of_field = 0; begin_of_field <= line.size();) {
      const std::size_t comma = std::min(line.find(',', begin_of_field), line.size());
      fields.push_back(std::string_view(line).substr(begin_of_field, comma - begin_of_field));
      begin_of_field = comma + 1;
    }
    if (fields.size() < format.least || fields.size() > format.most) {
      throw InputError(where, fmt::format("{} values", fields.size()), format.row);
    }
    std::vector<double>& row = rows.emplace_back();
    for (const std::string_view field : fields) row.push_back(number_of(field, where, format.number));
    if (rows.size() > format.most_rows) {
      throw InputError(where, fmt::format("more {}", format.rows), fmt::format("at most {}", format.most_rows));
    }
  }
  return rows;
}

std::vector<double> read_csv_samples(const std::string& path, const std::string& key, std::size_t most_samples) {
  const CsvFormat format{.file = "a CSV file with a number a line",
                         .row = "a number",
                         .line = "a number",
                         .number = "a number",
                         .rows = "samples",
                         .least = 1,
                         .most = 1,
                         .most_rows = most_samples};
  std::vector<double> samples;
  for (const std::vector<double>& row : read_csv_numbers(path, key, format)) samples.push_back(row[0]);
  return samples;
}

}  // namespace echoform
