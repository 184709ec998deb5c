// Rows of numbers from a CSV file that a key of the configuration names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace echoform {

/// What a file must hold, as messages have it.
struct CsvFormat {
  std::string_view file;    ///< "a CSV file with lines of x,z in m"
  std::string_view row;     ///< "x,z or x,z,radius in m"
  std::string_view line;    ///< "x,z in m"
  std::string_view number;  ///< "a number in m"
  std::string_view rows;    ///< what rows are called: "points"
  std::size_t least = 1;    ///< numbers a row
  std::size_t most = 1;
  std::size_t most_rows = 4096;
};

/// One row a line; a first line that begins with a word is a heading, # begins a remark, empty lines do not count. Of at most
/// 1 MiB. Throws InputError: naming `key` for a file that cannot be read, file and line for what is no such row of finite
/// numbers.
[[nodiscard]] std::vector<std::vector<double>> read_csv_numbers(const std::string& path, const std::string& key,
                                                                const CsvFormat& format);
/// The samples of a file with one a line, likewise.
[[nodiscard]] std::vector<double> read_csv_samples(const std::string& path, const std::string& key, std::size_t most_samples);

}  // namespace echoform
