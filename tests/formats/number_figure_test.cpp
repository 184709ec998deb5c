// Figures of numbers: with a sign, or from 0 to an end, with what has no value apart.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "formats/colour_map.hpp"
#include "formats/figure.hpp"
#include "formats/image_writer.hpp"
#include "formats/shown_axes.hpp"

namespace echoform::test {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

// ---- colours as eyes see them: CIE Lab of sRGB (IEC 61966-2-1, D65), and what the colour-blind see of it (G. M. Machado and
// others, IEEE Trans. Vis. Comput. Graph. 15(6), 1291, 2009, severity 1: protanopia, deuteranopia, tritanopia).

using Triple = std::array<double, 3>;
using Matrix3 = std::array<Triple, 3>;

Triple times(const Matrix3& matrix, const Triple& v) {
  Triple result{};
  for (std::size_t row = 0; row < 3; ++row) result[row] = matrix[row][0] * v[0] + matrix[row][1] * v[1] + matrix[row][2] * v[2];
  return result;
}

Triple linear_light(Rgb colour) {
  Triple light{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double v = colour[c] / 255.0;
    light[c] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  }
  return light;
}

Triple lab(const Triple& light) {
  constexpr Matrix3 to_xyz{{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  const Triple xyz = times(to_xyz, light);
  const auto f = [](double t) { return t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0; };
  const double x = f(xyz[0] / 0.95047);
  const double y = f(xyz[1]);
  const double z = f(xyz[2] / 1.08883);
  return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

double lightness(Rgb colour) {
  return lab(linear_light(colour))[0];
}

double distance(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

constexpr Matrix3 trichromat{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix3 protanopia{{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix3 deuteranopia{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix3 tritanopia{{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
constexpr std::array<const Matrix3*, 4> eyes{&trichromat, &protanopia, &deuteranopia, &tritanopia};

Triple seen(const Matrix3& eye, Rgb colour) {
  Triple light = times(eye, linear_light(colour));
  for (double& part : light) part = std::clamp(part, 0.0, 1.0);
  return lab(light);
}

TEST(DivergingColours, FallInLightnessEvenlyToBothSides) {
  EXPECT_NEAR(lightness(diverging_colour(0.0)), 96.0, 1.0);
  for (double t = 0.0; t <= 1.0; t += 1.0 / 64.0) {
    // Anchors are rounded to whole levels, and what lies between them is a curve.
    EXPECT_NEAR(lightness(diverging_colour(t)), 96.0 - 66.0 * t, 2.0) << t;
    EXPECT_NEAR(lightness(diverging_colour(-t)), lightness(diverging_colour(t)), 2.0) << t;
  }
  EXPECT_EQ(diverging_colour(-3.0), diverging_colour(-1.0));
  EXPECT_EQ(diverging_colour(3.0), diverging_colour(1.0));
  EXPECT_EQ(diverging_colour(std::nan("")), no_value_colour);
}

/// Ten units of Lab are told apart at a glance.
TEST(DivergingColours, TellSignsApartForAnyColourBlindness) {
  for (const Matrix3* const eye : eyes) {
    for (double t = 0.25; t <= 1.0; t += 1.0 / 64.0) {
      EXPECT_GT(distance(seen(*eye, diverging_colour(t)), seen(*eye, diverging_colour(-t))), 20.0) << t;
    }
  }
}

/// Told apart at a glance, as above.
TEST(Colours, OfWhatHasNoValueLieOnNoMap) {
  for (const Matrix3* const eye : eyes) {
    const Triple grey = seen(*eye, no_value_colour);
    for (double t = 0.0; t <= 1.0; t += 1.0 / 256.0) {
      EXPECT_GT(distance(grey, seen(*eye, diverging_colour(2.0 * t - 1.0))), 10.0) << t;
      EXPECT_GT(distance(grey, seen(*eye, sequential_colour(t))), 10.0) << t;
    }
  }
}

// ---- figures

Rgb colour_at(const Figure& figure, double x, double z) {
  const auto column = static_cast<std::size_t>(figure.layout.column_of(Metres(x)));
  const auto row = static_cast<std::size_t>(figure.layout.row_of(Metres(z)));
  const auto* p = &figure.rgb[3 * (row * figure.layout.width + column)];
  return {p[0], p[1], p[2]};
}

/// Columns from 0 to 30 mm, two rows alike.
Grid columns(std::size_t count) {
  return {{Metres(0.0), Metres(3e-2), count}, {Metres(0.0), Metres(1e-2), 2}, {}};
}

std::vector<float> twice(std::vector<float> row) {
  row.insert(row.end(), row.begin(), row.end());
  return row;
}

TEST(NumberFigure, HasZeroInTheMiddleOfASymmetricScale) {
  const auto values = twice({-0.2F, 0.0F, 0.1F, 0.05F});
  ImageFile image{.grid = columns(4), .envelope = values, .pixels = {"velocity", "m/s"}};
  image.scale = {ScaleKind::symmetric, 0.2};
  const Figure figure = draw_figure(image);
  // Half a pixel of the figure is a 440th of the way to the next value, and a level of a colour in most places.
  const auto expect_near = [&](double x, double value) {
    const Rgb found = colour_at(figure, x, 5e-3);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found[c], diverging_colour(value)[c], 3) << x;
  };
  expect_near(0.0, -1.0);
  expect_near(1e-2, 0.0);
  expect_near(2e-2, 0.5);
  // The end is the largest magnitude where nothing states it, less the gain.
  image.scale.end = 0.0;
  EXPECT_EQ(draw_figure(image).rgb, figure.rgb);
  image.gain_db = 20.0 * std::log10(2.0);
  image.scale.end = 0.0;
  EXPECT_EQ(colour_at(draw_figure(image), 2e-2, 5e-3), diverging_colour(1.0));
}

/// From one end to the other: in between lies nothing where they are neighbours round the circle, and 0 where they are not.
TEST(NumberFigure, ShowsNoSeamWhereNumbersWrapRound) {
  const auto values = twice({0.2F, -0.2F});
  ImageFile image{.grid = columns(2), .envelope = values};
  image.scale = {ScaleKind::symmetric, 0.2};
  const auto lightest = [&] {
    const Figure figure = draw_figure(image);
    double most = 0.0;
    for (double x = 0.0; x <= 3e-2; x += 1e-4) most = std::max(most, lightness(colour_at(figure, x, 5e-3)));
    return most;
  };
  EXPECT_GT(lightest(), 90.0);
  image.limit = 0.2;
  EXPECT_LT(lightest(), 35.0);
}

TEST(NumberFigure, WhatHasNoValueIsApartAndTakesNothingFromItsNeighbours) {
  const auto values = twice({0.1F, none, 0.9F});
  ImageFile image{.grid = columns(3), .envelope = values, .pixels = {"oxygen saturation", ""}};
  image.scale = {ScaleKind::from_zero, 1.0, true};
  const Figure figure = draw_figure(image);
  // Pixels are 15 mm wide: each has its colour up to its edge.
  for (const double x : {-7e-3, 0.0, 7e-3}) EXPECT_EQ(colour_at(figure, x, 5e-3), sequential_colour(0.1F)) << x;
  for (const double x : {8e-3, 15e-3, 22e-3}) EXPECT_EQ(colour_at(figure, x, 5e-3), no_value_colour) << x;
  for (const double x : {23e-3, 30e-3, 37e-3}) EXPECT_EQ(colour_at(figure, x, 5e-3), sequential_colour(0.9F)) << x;
}

TEST(NumberFigure, DecibelsOfWhatHasNoValueHaveAnEntryBelowTheBar) {
  const auto grey_beside_the_axes = [](float second) {
    const auto values = twice({1.0F, second, 1.0F});
    const Figure figure = draw_figure({.grid = columns(3), .envelope = values});
    std::size_t count = 0;
    for (std::size_t row = 0; row < figure.layout.height; ++row) {
      for (std::size_t column = figure.layout.left + figure.layout.plot_width; column < figure.layout.width; ++column) {
        const auto* p = &figure.rgb[3 * (row * figure.layout.width + column)];
        if (Rgb{p[0], p[1], p[2]} == no_value_colour) ++count;
      }
    }
    return count;
  };
  // The entry is a square as wide as the bar; edges of letters have a pixel of this grey here and there.
  EXPECT_GT(grey_beside_the_axes(none), 300U);
  EXPECT_LT(grey_beside_the_axes(0.5F), 100U);
}

TEST(NumberFigure, KeepsWhatStandsOutWhereItShrinks) {
  std::vector<float> row(5000, 0.01F);
  row[2000] = -1.0F;
  row[3000] = 0.8F;
  const auto values = twice(row);
  ImageFile image{.grid = columns(row.size()), .envelope = values};
  image.scale = {ScaleKind::symmetric, 1.0};
  const Figure figure = draw_figure(image);
  const auto at = [&](std::size_t k) { return colour_at(figure, image.grid.x.at(k).value, 5e-3); };
  EXPECT_EQ(at(2000), diverging_colour(-1.0));
  EXPECT_EQ(at(3000), diverging_colour(0.8F));
}

TEST(NumberFigure, OfPowersIsInDecibelsOfPowers) {
  const auto values = twice({1.0F, 1e-2F});
  ImageFile image{.grid = columns(2), .envelope = values, .dynamic_range_db = 40.0};
  image.scale.kind = ScaleKind::power_decibels;
  EXPECT_EQ(colour_at(draw_figure(image), 3e-2, 5e-3), sequential_colour(0.5));
  image.scale.kind = ScaleKind::decibels;
  EXPECT_EQ(colour_at(draw_figure(image), 3e-2, 5e-3), sequential_colour(0.0));
}

TEST(NumberFigure, OfZerosAndOfNothingButHolesIsOneToo) {
  for (const ScaleKind kind : {ScaleKind::symmetric, ScaleKind::from_zero}) {
    for (const float value : {0.0F, none}) {
      const std::vector<float> values(8, value);
      ImageFile image{.grid = columns(4), .envelope = values};
      image.scale.kind = kind;
      const Rgb zero = kind == ScaleKind::symmetric ? diverging_colour(0.0) : sequential_colour(0.0);
      EXPECT_EQ(colour_at(draw_figure(image), 1e-2, 5e-3), std::isnan(value) ? no_value_colour : zero);
    }
  }
}

TEST(NumberFigure, OfAVolumeProjectsTheLargestMagnitudes) {
  const Grid grid{{Metres(0.0), Metres(2e-2), 3}, {Metres(0.0), Metres(2e-2), 3}, {Metres(0.0), Metres(1e-2), 2}};
  std::vector<float> values(grid.pixels(), 0.1F);
  values[1] = -0.8F;  // x 1, y 0, z 0
  values[4] = 0.5F;   // x 1, y 1, z 0
  ImageFile image{.grid = grid, .envelope = values};
  image.scale = {ScaleKind::symmetric, 1.0};
  const VolumeFigure figure = draw_volume_figure(image);
  EXPECT_EQ(figure.maximum, "x = 10 mm, y = 0 mm, z = 0 mm");
  const PlotArea& along_y = figure.plots[4];
  ASSERT_EQ(along_y.name, "B-scan projection");
  const auto column = static_cast<std::size_t>(along_y.column_of(1e-2));
  const auto row = static_cast<std::size_t>(along_y.row_of(0.0));
  const auto* p = &figure.rgb[3 * (row * figure.width + column)];
  const Rgb wanted = diverging_colour(-0.8F);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(p[c], wanted[c], 8);  // interpolated to half a pixel of the figure
}

TEST(NumberFigure, AxesOfDifferentUnitsFillIt) {
  // Three seconds against 40 mm.
  const Grid grid{{Metres(0.0), Metres(4e-2), 50}, {Metres(-3.0), Metres(0.0), 30}, {}};
  const std::vector<float> values(grid.pixels(), 1.0F);
  const Figure figure = draw_figure({.grid = grid, .envelope = values, .x = {"range", "m"}, .z = {"time", "s"}});
  EXPECT_GT(figure.layout.plot_width, 500u);
  EXPECT_GT(figure.layout.plot_height, 500u);
}

TEST(ShownValues, HaveUnitsThatPeopleRead) {
  const auto shown = [](const char* unit, double end) {
    const formats::ShownUnit found = formats::shown_values({"v", unit}, end);
    EXPECT_NEAR(found.to_shown * found.from_shown, 1.0, 1e-12);
    return std::pair(found.name, end * found.to_shown);
  };
  using testing::DoubleNear;
  using testing::Pair;
  EXPECT_THAT(shown("m/s", 0.308), Pair("m/s", DoubleNear(0.308, 1e-12)));
  EXPECT_THAT(shown("m/s", 0.05), Pair("mm/s", DoubleNear(50.0, 1e-9)));
  EXPECT_THAT(shown("Pa", 20.0), Pair("Pa", DoubleNear(20.0, 1e-12)));
  EXPECT_THAT(shown("Pa", 2e4), Pair("kPa", DoubleNear(20.0, 1e-9)));
  EXPECT_THAT(shown("Pa", 2e6), Pair("MPa", DoubleNear(2.0, 1e-9)));
  EXPECT_THAT(shown("m^2/s^2", 0.02), Pair("m\u00b2/s\u00b2", DoubleNear(0.02, 1e-12)));
  EXPECT_THAT(shown("", 1.0), Pair("", DoubleNear(1.0, 1e-12)));
  EXPECT_THAT(shown("", 3.0), Pair("arbitrary units", DoubleNear(3.0, 1e-12)));
  EXPECT_THAT(shown("", 3.2e-5), Pair("10\u207b\u2075 arbitrary units", DoubleNear(3.2, 1e-9)));
  EXPECT_THAT(shown("m^2/s^2", 4e4), Pair("10\u2074 m\u00b2/s\u00b2", DoubleNear(4.0, 1e-9)));
}

}  // namespace
}  // namespace echoform::test
