// The tables of formats, and what is printed of them. That lists elsewhere agree is tested by tests/house/formats_test.py.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "formats/formats_markdown.hpp"
#include "formats/frame_writer.hpp"
#include "formats/image_formats.hpp"
#include "formats/recording_formats.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform {
namespace {

using ::testing::HasSubstr;

TEST(Formats, ThePageIsCurrent) {
  std::ifstream stream(test::source_directory() / "docs" / "formats.md");
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(text.str(), formats_markdown()) << "run: echoform info --formats > docs/formats.md";
}

TEST(Formats, OfRecordingsAreWhole) {
  std::set<unsigned> ranks;
  for (const formats::RecordingFormat* const format : formats::recording_formats()) {
    SCOPED_TRACE(format->name);
    EXPECT_FALSE(format->meaning.empty() || format->page.empty());
    ASSERT_FALSE(format->its_extensions().empty());
    for (const std::string_view extension : format->its_extensions()) EXPECT_TRUE(extension.starts_with('.'));
    EXPECT_NE(format->open == nullptr, format->open_folder == nullptr);
    EXPECT_TRUE(format->always_hdf5.empty() || format->try_reading != nullptr) << "HDF5 can crash on damaged files";
    EXPECT_TRUE(!format->mark || ranks.insert(format->mark->rank).second) << "two marks of one rank";
    if (format->writer == nullptr) continue;
    EXPECT_NE(format->writer->check, nullptr);
    EXPECT_NE(format->writer->make, nullptr);
  }
}

TEST(Formats, ThatShareAnExtensionHaveMarks) {
  for (const formats::RecordingFormat* const format : formats::recording_formats()) {
    for (const formats::RecordingFormat* const other : formats::recording_formats()) {
      if (format == other) continue;
      for (const std::string_view extension : format->its_extensions()) {
        const auto others = other->its_extensions();
        EXPECT_TRUE(format->mark || std::ranges::find(others, extension) == others.end()) << format->name;
      }
    }
  }
}

TEST(Formats, ThatCanBeReadWhileTheyGrowAreListedFirst) {
  std::vector<bool> grows;
  for (const std::string& extension : frame_file_extensions()) {
    for (const formats::RecordingFormat* const format : formats::recording_formats()) {
      if (format->writer != nullptr && format->extensions.front() == extension) grows.push_back(format->writer->grows);
    }
  }
  EXPECT_EQ(grows.size(), frame_file_extensions().size()) << "each is written by one format";
  EXPECT_TRUE(std::is_sorted(grows.begin(), grows.end(), std::greater<>{}));
}

TEST(Formats, SayWhatSamplesBecome) {
  Acquisition counts;
  counts.encoding = SampleEncoding::int16;
  EXPECT_EQ(samples_of_file("a.mat", counts), "float64 amplitudes");
  EXPECT_EQ(samples_of_file("a.mfmc", counts), "they are");
  EXPECT_EQ(samples_of_file("a.uff", counts), "float32 amplitudes");
  EXPECT_EQ(samples_of_file("a.hdf5", counts), "they are");
  counts.sample_scale = 0.5;
  EXPECT_EQ(samples_of_file("a.hdf5", counts), "float32 amplitudes");
  counts.encoding = SampleEncoding::float32;
  EXPECT_EQ(samples_of_file("a.uff", counts), "they are");
}

TEST(Formats, WithoutTheSignatureOfHdf5SayWhichFileTheyExpect) {
  const test::Scratch scratch;
  for (const formats::RecordingFormat* const format : formats::recording_formats()) {
    if (format->always_hdf5.empty()) continue;
    const std::filesystem::path path = scratch / ("a" + std::string(format->extensions.front()));
    std::ofstream(path) << "no signature";
    for (const formats::Trial trial : {formats::Trial::first, formats::Trial::none}) {
      EXPECT_THAT(test::input_error([&] { static_cast<void>(open_as(*format, path, {}, trial)); }),
                  HasSubstr("found no HDF5 signature; expected " + std::string(format->always_hdf5)));
    }
  }
}

TEST(Formats, OfImagesAreWhole) {
  std::set<std::string_view> extensions;
  for (const formats::ImageFormat* const format : formats::image_formats()) {
    SCOPED_TRACE(format->extension);
    EXPECT_FALSE(format->meaning.empty() || format->page.empty());
    EXPECT_NE(format->write, nullptr);
    EXPECT_TRUE(extensions.insert(format->extension).second);
    const bool helped = image_formats_help().find("  " + std::string(format->extension) + " ") != std::string::npos;
    EXPECT_EQ(helped, format->written());
  }
}

}  // namespace
}  // namespace echoform
