#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

#include "formats/colour_map.hpp"
#include "formats/figure.hpp"
#include "formats/image_writer.hpp"
#include "formats/png.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t volume_nx = 30;
constexpr std::size_t volume_ny = 12;
constexpr std::size_t volume_nz = 50;

/// A box of three spacings and lengths.
Grid box() {
  return {{Metres(-1e-2), Metres(1e-2), volume_nx},
          {Metres(5e-3), Metres(3e-2), volume_nz},
          {Metres(-4e-3), Metres(4e-3), volume_ny}};
}

std::size_t place(std::size_t ix, std::size_t iy, std::size_t iz) {
  return (iz * volume_ny + iy) * volume_nx + ix;
}

Rgb colour_at(const VolumeFigure& figure, const PlotArea& plot, double across, double down) {
  const auto column = static_cast<std::size_t>(plot.column_of(across));
  const auto row = static_cast<std::size_t>(plot.row_of(down));
  const auto* p = &figure.rgb[3 * (row * figure.width + column)];
  return {p[0], p[1], p[2]};
}

TEST(VolumeFigure, ShowsReflectorsInSlicesAndProjections) {
  // A strong point, and a weaker one that lies in none of the slices through the strong one: 20 of 40 dB below.
  const Grid grid = box();
  std::vector<float> envelope(grid.pixels(), 0.0F);
  envelope[place(7, 3, 20)] = 5.0F;
  envelope[place(22, 9, 41)] = 0.5F;
  const VolumeFigure figure = draw_volume_figure({.grid = grid, .envelope = envelope, .title = "two points", .view = "LL"});
  EXPECT_EQ(figure.rgb.size(), 3 * figure.width * figure.height);
  ASSERT_EQ(figure.plots.size(), 6U);

  const std::array<double, 3> strong{grid.x.at(7).value, grid.y.at(3).value, grid.z.at(20).value};
  const std::array<double, 3> weak{grid.x.at(22).value, grid.y.at(9).value, grid.z.at(41).value};
  // Across and down: x and y, x and z, y and z.
  const std::array<std::pair<std::size_t, std::size_t>, 3> axes{{{0, 1}, {0, 2}, {1, 2}}};
  const std::array<const char*, 3> names{"C-scan", "B-scan", "D-scan"};
  for (std::size_t k = 0; k < 6; ++k) {
    const PlotArea& plot = figure.plots[k];
    const std::size_t across = axes[k % 3].first;
    const std::size_t down = axes[k % 3].second;
    EXPECT_EQ(plot.name, std::string(names[k % 3]) + (k < 3 ? " slice" : " projection"));
    // Pixels of the plots are smaller than the grid's, and that at a centre differs by less than half of one, where interpolation
    // has lost little: some levels of 256.
    const auto near = [&](const std::array<double, 3>& at, double level) {
      const Rgb found = colour_at(figure, plot, at[across], at[down]);
      const Rgb expected = sequential_colour(level);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found[c], expected[c], 12) << plot.name << " channel " << c;
    };
    near(strong, 1.0);
    near(weak, k < 3 ? 0.0 : 0.5);
  }
  EXPECT_EQ(figure.maximum, "x = -5.17 mm, y = -1.82 mm, z = 15.20 mm");
}

TEST(VolumeFigure, KeepsOneScaleForAllAxes) {
  const Grid grid = box();
  const std::vector<float> envelope(grid.pixels(), 1.0F);
  const VolumeFigure figure = draw_volume_figure({.grid = grid, .envelope = envelope});
  for (const PlotArea& plot : figure.plots) {
    const double across = static_cast<double>(plot.width) / (plot.across_last - plot.across_first);
    const double down = static_cast<double>(plot.height) / (plot.down_last - plot.down_first);
    EXPECT_NEAR(across / down, 1.0, 5e-3) << plot.name;  // sides are whole pixels of 100 and more
    EXPECT_LE(plot.left + plot.width, figure.width);
    EXPECT_LE(plot.top + plot.height, figure.height);
  }
}

TEST(VolumeFigure, WhatIsNotCoveredIsGreyAndHidesNothing) {
  // One half in y was never covered; a column of NaN goes through the other.
  const Grid grid = box();
  std::vector<float> envelope(grid.pixels(), 1.0F);
  constexpr float hole = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t iz = 0; iz < volume_nz; ++iz) {
    for (std::size_t iy = 0; iy < volume_ny; ++iy) {
      for (std::size_t ix = 0; ix < volume_nx; ++ix) {
        if (iy >= volume_ny / 2 || ix == 15) envelope[place(ix, iy, iz)] = hole;
      }
    }
  }
  const VolumeFigure figure = draw_volume_figure({.grid = grid, .envelope = envelope});
  const Rgb grey = sequential_colour(std::nan(""));
  const auto& over_z = figure.plots[3];
  const auto& over_y = figure.plots[4];
  const auto& over_x = figure.plots[5];
  EXPECT_EQ(colour_at(figure, over_z, -9e-3, -3e-3), sequential_colour(1.0));
  EXPECT_EQ(colour_at(figure, over_z, -9e-3, 3e-3), grey);
  EXPECT_EQ(colour_at(figure, over_y, grid.x.at(15).value, 2e-2), grey);
  EXPECT_EQ(colour_at(figure, over_y, -9e-3, 2e-2), sequential_colour(1.0));
  EXPECT_EQ(colour_at(figure, over_x, -3e-3, 2e-2), sequential_colour(1.0));
  EXPECT_EQ(colour_at(figure, over_x, 3e-3, 2e-2), grey);
}

TEST(VolumeFigure, FollowsTheScaleOfTheImage) {
  const Grid grid = box();
  const std::vector<std::complex<float>> analytic(grid.pixels(), {0.0F, -2.0F});
  ImageFile image{.grid = grid, .analytic = analytic, .dynamic_range_db = 40.0, .reference = 20.0};
  const VolumeFigure figure = draw_volume_figure(image);
  for (const PlotArea& plot : figure.plots) {
    const double across = 0.5 * (plot.across_first + plot.across_last);
    EXPECT_EQ(colour_at(figure, plot, across, 0.5 * (plot.down_first + plot.down_last)), sequential_colour(0.5)) << plot.name;
  }
  image.dynamic_range_db = 0.0;
  EXPECT_THAT(input_error([&] { static_cast<void>(draw_volume_figure(image)); }), HasSubstr("a dynamic range of 0 dB"));
}

/// Of images with a sign decibels are of magnitudes.
TEST(Figure, WhatIsBelowZeroHasTheColourOfItsMagnitude) {
  const Grid grid{{Metres(0.0), Metres(3e-2), 4}, {Metres(0.0), Metres(2e-2), 3}, {Metres(0.0), Metres(0.0), 1}};
  std::vector<float> values{2.0F, 0.5F, 0.02F, 0.0F, 1.0F, 1.5F, 0.1F, 0.3F, 0.7F, 2.0F, 1e-6F, 0.2F};
  const Figure above = draw_figure({.grid = grid, .envelope = values});
  for (std::size_t k = 0; k < values.size(); k += 2) values[k] = -values[k];
  EXPECT_EQ(draw_figure({.grid = grid, .envelope = values}).rgb, above.rgb);
}

TEST(VolumeFigure, EveryVolumeMakesOne) {
  // Of one column or depth, long and slim, of zeros, of NaN.
  for (const auto& [nx, ny, nz, value] : {std::tuple{1U, 5U, 6U, 1.0F},
                                          {6U, 5U, 1U, 1.0F},
                                          {1U, 2U, 1U, 1.0F},
                                          {900U, 2U, 3U, 1.0F},
                                          {4U, 3U, 2U, 0.0F},
                                          {4U, 3U, 2U, std::numeric_limits<float>::quiet_NaN()}}) {
    const auto axis_of = [](std::size_t count) { return Axis{Metres(0), Metres(1e-4 * static_cast<double>(count - 1)), count}; };
    const Grid grid{axis_of(nx), axis_of(nz), axis_of(ny)};
    const std::vector<float> envelope(grid.pixels(), value);
    const VolumeFigure figure = draw_volume_figure({.grid = grid, .envelope = envelope, .title = std::string(300, 'w')});
    EXPECT_EQ(figure.maximum.empty(), !(value > 0.0F));
    for (const PlotArea& plot : figure.plots) {
      EXPECT_GE(plot.width, 100U);
      EXPECT_GE(plot.height, 100U);
    }
  }
}

TEST(VolumeFigure, FileSaysWhereThePlotsAre) {
  const Scratch scratch;
  const Grid grid = box();
  std::vector<float> envelope(grid.pixels(), 1e-3F);
  envelope[place(7, 3, 20)] = 5.0F;
  const ImageFile image{.grid = grid, .envelope = envelope, .title = "a title"};
  make_image_writer(scratch / "v.png")->write(image);
  const VolumeFigure figure = draw_volume_figure(image);
  const PngPixels back = read_png(scratch / "v.png");
  EXPECT_EQ(back.width, figure.width);
  EXPECT_EQ(back.pixels, figure.rgb);
  const auto bytes = load(scratch / "v.png");
  EXPECT_LT(bytes.size(), 400'000U) << "figures are sent by mail";
  const std::string text(bytes.begin(), bytes.end());
  for (const PlotArea& plot : figure.plots) {
    EXPECT_THAT(text, HasSubstr("PlotArea " + plot.name + std::string(1, '\0') + std::to_string(plot.left) + " " +
                                std::to_string(plot.top) + " " + std::to_string(plot.width) + " " + std::to_string(plot.height)));
    EXPECT_THAT(text, HasSubstr("ExtentMillimetres " + plot.name));
  }
}

}  // namespace
}  // namespace echoform::test
