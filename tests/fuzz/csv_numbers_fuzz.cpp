// CSV files of numbers: profiles, points, absorption tables, impulse responses.
//
// Input: a byte that says which rows are expected, then the file.
#include <cmath>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "tests/fuzz/input.hpp"

namespace {

using namespace echoform;

template <class Read>
void check(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFile file(".csv");
  fuzz::Input input(data, size);
  const auto kind = input.take<std::uint8_t>();
  file.write(input.rest());
  CsvFormat format{.file = "a CSV file", .row = "a row", .line = "a line", .number = "a number", .rows = "rows"};
  format.least = 1 + kind % 3;
  format.most = format.least + kind / 3 % 3;
  format.most_rows = 1 + kind / 9;
  check([&] {
    const auto rows = read_csv_numbers(file.path().string(), "[surface] profile", format);
    fuzz::require(!rows.empty() && rows.size() <= format.most_rows, "no more rows than are taken");
    for (const auto& row : rows) {
      fuzz::require(row.size() >= format.least && row.size() <= format.most, "rows of as many numbers as are taken");
      for (const double number : row) fuzz::require(std::isfinite(number), "finite numbers");
    }
  });
  check([&] {
    const auto samples = read_csv_samples(file.path().string(), "[filter] pulse_file", format.most_rows);
    fuzz::require(!samples.empty() && samples.size() <= format.most_rows, "no more samples than are taken");
    for (const double sample : samples) fuzz::require(std::isfinite(sample), "finite samples");
  });
  return 0;
}
