// Rows of numbers from files.
#include "base/csv_numbers.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/errors.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using CsvRows = std::vector<std::vector<double>>;

constexpr CsvFormat two_numbers{
    .file = "a file", .row = "two", .line = "lines of two", .number = "a number", .rows = "rows", .least = 2, .most = 2};

class CsvNumbers : public testing::Test {
 protected:
  [[nodiscard]] CsvRows rows_of(const std::string& text) const {
    std::ofstream(path()) << text;
    return read_csv_numbers(path(), "[x] file", two_numbers);
  }
  /// Of the message, what follows the path.
  [[nodiscard]] std::string csv_refusal(const std::string& text) const {
    const std::string line = test::input_error([&] { static_cast<void>(rows_of(text)); });
    return line.empty() ? line : line.substr(path().size());
  }

 private:
  [[nodiscard]] std::string path() const { return (scratch_ / "numbers.csv").string(); }
  test::Scratch scratch_;
};

TEST_F(CsvNumbers, AreReadLineByLine) {
  const CsvRows wanted{{1.0, -2.0}, {3e-6, 0.5}};
  EXPECT_EQ(rows_of("1,-2\n3e-6,0.5\n"), wanted);
  EXPECT_EQ(rows_of("\xEF\xBB\xBF# of today\r\n\r\ntime in s, amplitude\r\n 1 , -2\r\n3e-6,0.5 # the last\r\n"), wanted);
  EXPECT_EQ(rows_of("infrared, nanometres\n1,-2\n3e-6,0.5"), wanted) << "words that begin as numbers do";
  EXPECT_EQ(rows_of("time, nan\n"), CsvRows());
  EXPECT_EQ(rows_of(""), CsvRows());
}

TEST_F(CsvNumbers, OneHeadingAtMost) {
  EXPECT_EQ(csv_refusal("time, amplitude\ns, V\n1,-2\n"), ", line 2: found \"s\"; expected a number");
  EXPECT_EQ(csv_refusal("1,-2\ntime, amplitude\n"), ", line 2: found \"time\"; expected a number");
}

TEST_F(CsvNumbers, WhatIsNoFiniteNumberIsNoHeading) {
  for (const std::string word : {"nan", "NaN", "inf", "Infinity", "nan(1)", "INF "}) {
    EXPECT_EQ(csv_refusal(word + ",1\n1,-2\n"), ", line 1: found \"" + word + "\"; expected a number");
  }
  EXPECT_EQ(csv_refusal("1,-2\n2,nan\n"), ", line 2: found \"nan\"; expected a number");
  EXPECT_EQ(csv_refusal("-inf,-2\n"), ", line 1: found \"-inf\"; expected a number");
}

}  // namespace
}  // namespace echoform
