// An error of the disk in the middle of a file is never taken for its end: half of a configuration, a table or a surface is
// another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/csv_numbers.hpp"
#include "base/errors.hpp"
#include "formats/capture_file.hpp"
#include "formats/m2k_index.hpp"
#include "formats/msot_description.hpp"
#include "rays/stl_file.hpp"
#include "settings/imaging_lines.hpp"
#include "settings/reader.hpp"
#include "simulators/sampled_curve.hpp"
#include "tests/read_errors/failing_disk.hpp"
#include "tests/support/input_error.hpp"
#include "transport/peers/key_file.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 1\nvertex 1 0 1\nvertex 0 1 1\nendloop\nendfacet\n";

/// A reader of files, and a file whose halves it would read as well.
struct Reader {
  std::string name;
  std::string file;  ///< its name
  std::string text;
  std::function<void(const std::filesystem::path&)> read;
};

void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

void read_index(const std::filesystem::path& binary) {
  std::istringstream xml(
      "<Acq nbCartoByShot=\"0\"><ShotDescSave><DataSave><DataDescSave classType=\"2\" type=\"16\"/>"
      "<DataDescSave classType=\"1\" type=\"6\" indice=\"1\"/></DataSave></ShotDescSave></Acq>");
  std::ifstream bytes(binary, std::ios::binary);
  static_cast<void>(formats::read_m2k_index(xml, "acq_desc.xml", bytes, binary.string()));
}

/// Ten positions of one shot: an identifier, a place, a number, a word, and the bytes of the channel.
std::string index_bytes() {
  std::string bytes;
  for (int position = 0; position < 10; ++position) {
    bytes.append(4 + 8 + 8 + 4, '\0');
    bytes.append("\x10\0\0\0", 4);
  }
  return bytes;
}

std::vector<Reader> readers() {
  const CsvFormat two_numbers{.file = "a CSV file",
                              .row = "two numbers",
                              .line = "two numbers",
                              .number = "a number",
                              .rows = "rows",
                              .least = 2,
                              .most = 2};
  std::string lines;
  for (int k = 0; k < 100; ++k) lines += std::to_string(k) + ", 1\n";
  return {
      {"configuration", "server.toml", "[input]\nlisten = \"127.0.0.1:0\"\n[server]\nweb = \"127.0.0.1:0\"\n[input.micropulse]\n",
       [](const auto& path) { static_cast<void>(load_configuration(path)); }},
      {"csv", "rows.csv", lines,
       [two_numbers](const auto& path) { static_cast<void>(read_csv_numbers(path.string(), "[x] file", two_numbers)); }},
      {"samples", "samples.csv", "1\n2\n3\n4\n5\n6\n",
       [](const auto& path) { static_cast<void>(read_csv_samples(path.string(), "[x] file", 100)); }},
      {"profile", "profile.csv", lines, [](const auto& path) { static_cast<void>(read_profile_knots(path.string())); }},
      {"stl", "part.stl", "solid a\n" + std::string(facet) + "endsolid a\nsolid b\n" + facet + "endsolid b\n",
       [](const auto& path) { static_cast<void>(read_stl(path.string(), "[surface] file", 1.0)); }},
      {"key", "token", "a secret of one line\nand a second\n",
       [](const auto& path) { static_cast<void>(read_key_file(path, "--token-file", true)); }},
      {"sum_of_a_surface", "surface.csv", lines,
       [](const auto& path) {
         static_cast<void>(
             imaging_lines(parse_configuration("[surface]\nkind = \"profile\"\nfile = '" + path.string() + "'\n", "scan.toml")));
       }},
      {"m2k_index", "acq_desc.bin", index_bytes(), read_index},
      {"capture", "scan.efcap", "",
       [](const auto& path) {
         CaptureReader reader(path);
         while (reader.next()) {
         }
       }},
  };
}

class ReadErrors : public ::testing::TestWithParam<Reader> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    if (GetParam().name == "capture") {
      std::filesystem::remove(path_);
      CaptureWriter writer(path_, WallTime(0));
      for (int k = 0; k < 10; ++k)
        writer.append(CaptureRecordType::open, static_cast<std::uint32_t>(k), std::chrono::nanoseconds(k), "a sender");
      writer.close(std::chrono::nanoseconds(10));
    } else {
      std::ofstream(path_, std::ios::binary) << GetParam().text;
    }
    ::chmod(path_.c_str(), 0600);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What the reader says; empty where it has read all that it wanted.
  static std::string line_of(const std::filesystem::path& path) {
    return input_error([&] { GetParam().read(path); });
  }

  const std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / ("echoform_read_errors_" + GetParam().name);
  const std::filesystem::path path_ = folder_ / GetParam().file;
};

TEST_P(ReadErrors, AreNeverTakenForTheEnd) {
  ASSERT_EQ(line_of(path_), "") << "the whole file is good";
  const std::uint64_t bytes = std::filesystem::file_size(path_);
  for (std::uint64_t good = 0; good < bytes; good += 1 + bytes / 97) {
    const FailingDisk disk(path_, good);
    const std::string line = line_of(path_);
    EXPECT_THAT(line, HasSubstr(path_.string())) << "from byte " << good << " on";
    // What was found is the error, and not what the first half alone lacks.
    EXPECT_TRUE(line.find("cannot be read") != std::string::npos || line.find("Input/output error") != std::string::npos)
        << "from byte " << good << " on: " << line;
  }
  EXPECT_EQ(line_of(path_), "") << "the disk is whole again";
}

INSTANTIATE_TEST_SUITE_P(Readers, ReadErrors, ::testing::ValuesIn(readers()), [](const auto& about) { return about.param.name; });

TEST(ReadErrorsOfTheSystem, AFileThatCannotBeReadIsNoEmptyConfiguration) {
  // Opens as a regular file of no bytes; what is at its beginning is in nobody's memory.
  EXPECT_EQ(input_error([&] { static_cast<void>(load_configuration("/proc/self/mem")); }),
            "/proc/self/mem: found a file that cannot be read (Input/output error); expected a TOML file")
      << "took it for a configuration of nothing";
}

TEST(ReadErrorsOfTheSystem, FilesWithoutAStatedSizeAreReadToTheirEnd) {
  // Three lines that begin with a word: a heading, and then no row.
  const CsvFormat one{.file = "a CSV file", .row = "a number", .line = "a number", .number = "a number", .rows = "rows"};
  EXPECT_THAT(input_error([&] { static_cast<void>(read_csv_numbers("/proc/self/status", "[x] file", one)); }),
              HasSubstr("/proc/self/status, line 2: found \"Umask:"))
      << "took it for a table of nothing";
}

}  // namespace
}  // namespace echoform::test
