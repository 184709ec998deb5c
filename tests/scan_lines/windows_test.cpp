// Windows over an aperture, against figures of the literature.
#include "stages/windows/window.hpp"
#include "stages/windows/window_words.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

/// The highest side lobe of an aperture of many elements, in dB below the main lobe: beyond the first minimum.
double side_lobe(const Window& window) {
  constexpr int elements = 512;
  double peak = 0.0;
  double before = 1e9;
  double highest = 0.0;
  bool beyond = false;
  // In units of the first null of an even aperture, up to where others have fallen far below.
  for (double u = 0.0; u < 12.0; u += 0.005) {
    std::complex<double> sum;
    for (int e = 0; e < elements; ++e) {
      const double t = (e + 0.5) / elements;
      sum += window_at(window, t) * std::polar(1.0, 2.0 * std::numbers::pi * u * t);
    }
    const double level = std::abs(sum);
    if (u == 0.0) peak = level;
    if (!beyond && level > before) beyond = true;
    if (beyond && level > highest) highest = level;
    before = level;
  }
  return 20.0 * std::log10(highest / peak);
}

TEST(Windows, HaveTheSideLobesOfTheLiterature) {
  // Harris 1978, table 1; Kaiser's by his formula for beta = pi alpha, alpha = 2.
  EXPECT_NEAR(side_lobe({}), -13.26, 0.05);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::hann}), -31.5, 0.2);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::hamming}), -42.7, 0.5);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::blackman}), -58.1, 0.2);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::tukey, .tukey_fraction = 0.5}), -15.1, 0.2);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::kaiser, .kaiser_beta = 2.0 * std::numbers::pi}), -45.9, 0.5);
  EXPECT_NEAR(side_lobe({.kind = WindowKind::gauss, .gauss_width = 0.4}), -42.0, 1.5);
}

TEST(Windows, AreSymmetricAndOneInTheMiddle) {
  for (const auto& [kind, word] : words::window.entries) {
    SCOPED_TRACE(word);
    const Window window{.kind = kind};
    EXPECT_DOUBLE_EQ(window_at(window, 0.5), 1.0);
    for (const double t : {0.0, 0.1, 0.37}) EXPECT_NEAR(window_at(window, t), window_at(window, 1.0 - t), 1e-15);
    EXPECT_GE(window_at(window, 0.0), 0.0);
  }
}

TEST(Windows, OutOfRangeAreRefused) {
  EXPECT_EQ(test::input_error([&] { validate({.kind = WindowKind::kaiser, .kaiser_beta = -1.0}, "[beams]"); }),
            "[beams], Kaiser beta: found -1; expected 0 to 40");
}

}  // namespace
}  // namespace echoform
