// Rows of numbers from a CSV file that a key of the configuration names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace echoform {

/// The expected contents of a file, in the words of messages.
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

/// Reads one row per line. A first line that begins with a word is a heading, # begins a comment, and empty lines are
/// ignored. The file may have at most 1 MiB. Throws InputError, naming `key` for a file that cannot be read, and file and
/// line for a line that is no such row of finite numbers.
[[nodiscard]] std::vector<std::vector<double>> read_csv_numbers(const std::string& path, const std::string& key,
                                                                const CsvFormat& format);
/// Reads the samples of a file with one sample per line, by the same rules.
[[nodiscard]] std::vector<double> read_csv_samples(const std::string& path, const std::string& key, std::size_t most_samples);

}  // namespace echoform
