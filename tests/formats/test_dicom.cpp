// Pictures for archives: their pixels. tests/system/dicom_test.py reads the rest of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "formats/dicom.hpp"
#include "formats/image_writer.hpp"
#include "formats/png.hpp"
#include "tests/formats/scratch.hpp"

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
  // 0, -20, -40 and -60 dB of 40, and two that are none.
  const std::vector<float> values{1.0F, 0.1F, 0.01F, 0.001F, 0.0F, std::numeric_limits<float>::quiet_NaN()};
  const ArchiveEntry archive{.figure = false};
  ImageFile image{.grid = {{Metres(0.0), Metres(2e-3), 3}, {Metres(0.0), Metres(1e-3), 2}, {}}, .envelope = values};
  image.archive = &archive;
  make_image_writer(scratch / "grey.dcm")->write(image);
  EXPECT_THAT(last_bytes(scratch / "grey.dcm", 6), ::testing::ElementsAre(255, 128, 0, 0, 0, 0));
}

}  // namespace
}  // namespace echoform::test
