// Pictures for archives: their pixels. tests/system/dicom_test.py reads the rest of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <span>
#include <vector>

#include "formats/dicom.hpp"
#include "formats/image_writer.hpp"
#include "formats/png.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

/// Pixels are the last of a file.
std::vector<std::uint8_t> last_bytes(const std::filesystem::path& path, std::size_t count) {
  const auto bytes = load(path);
  const std::size_t padded = count + count % 2;
  if (bytes.size() < padded) return {};
  const auto first = bytes.end() - static_cast<std::ptrdiff_t>(padded);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

std::vector<float> slope(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t k = 0; k < count; ++k) values[k] = static_cast<float>(k + 1);
  return values;
}

TEST(Dicom, FiguresOfPlanesAndVolumesAreThoseOfPng) {
  if (!formats::dicom_available()) GTEST_SKIP() << "this build has no DCMTK";
  const Scratch scratch;
  const auto values = slope(60);
  for (const std::size_t slices : {1, 3}) {
    const Grid grid{{Metres(-2e-3), Metres(2e-3), 60 / 4 / slices},
                    {Metres(1e-3), Metres(4e-3), 4},
                    {Metres(0.0), Metres(slices > 1 ? 1e-3 : 0.0), slices}};
    const ImageFile image{.grid = grid, .envelope = values, .title = "a title"};
    make_image_writer(scratch / "x.dcm")->write(image);
    make_image_writer(scratch / "x.png")->write(image);
    const PngPixels drawn = read_png(scratch / "x.png");
    ASSERT_EQ(drawn.channels, 3u);
    EXPECT_EQ(last_bytes(scratch / "x.dcm", drawn.pixels.size()), drawn.pixels);
  }
}

TEST(Dicom, GreyLevelsAreDecibels) {
  if (!formats::dicom_available()) GTEST_SKIP() << "this build has no DCMTK";
  const Scratch scratch;
  // 0, -20, -40 and -60 dB of 40, and no echo.
  std::vector<float> values{1.0F, 0.1F, 0.01F, 0.001F, 0.0F, 0.0F};
  const ArchiveEntry archive{.figure = false};
  ImageFile image{.grid = {{Metres(0.0), Metres(2e-3), 3}, {Metres(0.0), Metres(1e-3), 2}, {}}, .envelope = values};
  image.archive = &archive;
  make_image_writer(scratch / "grey.dcm")->write(image);
  EXPECT_THAT(last_bytes(scratch / "grey.dcm", 6), ::testing::ElementsAre(255, 128, 0, 0, 0, 0));
  // Where a pixel has no value, level 0 is that alone.
  values.back() = std::numeric_limits<float>::quiet_NaN();
  make_image_writer(scratch / "grey.dcm")->write(image);
  EXPECT_THAT(last_bytes(scratch / "grey.dcm", 6), ::testing::ElementsAre(255, 128, 1, 1, 1, 0));
}

TEST(Dicom, RefusesPicturesThatTheFormatCannotState) {
  if (!formats::dicom_available()) GTEST_SKIP() << "this build has no DCMTK";
  const Scratch scratch;
  const auto values = slope(65536);
  const ArchiveEntry archive{.figure = false};
  ImageFile image{.grid = {{Metres(0.0), Metres(2e-3), 65536}, {Metres(0.0), Metres(0.0), 1}, {}}, .envelope = values};
  image.archive = &archive;
  EXPECT_THAT(input_error([&] { make_image_writer(scratch / "wide.dcm")->write(image); }),
              ::testing::EndsWith("found 65536 x 1 pixels; expected sides of up to 65535"));
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(Png, RefusesPicturesWithoutPixelsOrOfTooMany) {
  EXPECT_EQ(input_error([] { static_cast<void>(encode_png(0, 1, {})); }),
            "PNG image: found 0 x 1 pixels; expected sides of 1 to 65535");
  EXPECT_EQ(input_error([] { static_cast<void>(encode_png(1, 65536, {})); }),
            "PNG image: found 1 x 65536 pixels; expected sides of 1 to 65535");
  const std::vector<std::uint8_t> bytes(3);
  EXPECT_EQ(input_error([&] { static_cast<void>(encode_png(2, 2, bytes)); }),
            "PNG image: found 3 bytes for 2 x 2 pixels; expected one or three bytes a pixel");
  // A picture of one pixel that says it has more.
  const Scratch scratch;
  auto file = encode_png(1, 1, std::span(bytes).first(1));
  file[17] = 1;  // 65537 columns
  const auto sum = static_cast<std::uint32_t>(crc32(0, file.data() + 12, 17));
  for (std::size_t k = 0; k < 4; ++k) file[29 + k] = static_cast<std::uint8_t>(sum >> (24 - 8 * k));
  save(scratch / "wide.png", file);
  EXPECT_EQ(input_error([&] { static_cast<void>(read_png(scratch / "wide.png")); }),
            (scratch / "wide.png").string() + ": found 65537 x 1 pixels; expected sides of at most 65535");
}

}  // namespace
}  // namespace echoform::test
