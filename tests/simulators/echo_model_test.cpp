// Travel times and amplitudes against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "simulators/echo_model.hpp"

namespace echoform {
namespace {

constexpr double velocity = 6320.0;
constexpr double frequency = 5e6;
constexpr double wavelength = velocity / frequency;

Probe make_probe(std::size_t elements = 8, double width = 0.5e-3) {
  return make_linear_probe(elements, Metres(1.3e-3), Metres(width), Hertz(frequency), Hertz(3e6));
}

Point place(double x, double z) {
  return {Metres(x), Metres(0.0), Metres(z)};
}

Echo only_echo(const Phantom& phantom, const EchoModelOptions& options, std::size_t i, std::size_t j,
               const Probe& probe = make_probe()) {
  std::vector<Echo> echoes;
  EchoModel(probe, options, phantom, 0.0).echoes(i, j, echoes);
  EXPECT_EQ(echoes.size(), 1U);
  return echoes.empty() ? Echo{} : echoes.front();
}

double element_x(std::size_t i) {
  return 1.3e-3 * (static_cast<double>(i) - 3.5);
}

double rectangle(double sine, double cosine, double width = 0.5e-3) {
  const double x = std::numbers::pi * width * sine / wavelength;
  return (x == 0.0 ? 1.0 : std::sin(x) / x) * cosine;
}

TEST(EchoModel, ScattererHasClosedFormTimeAndAmplitude) {
  Phantom phantom;
  phantom.points = {{"p", place(4e-3, 17e-3), 0.8, {}}};
  for (const Spreading spreading : {Spreading::cylindrical, Spreading::spherical, Spreading::none}) {
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        const Echo echo = only_echo(phantom, {MetresPerSecond(velocity), spreading, true}, i, j);
        const double ri = std::hypot(4e-3 - element_x(i), 17e-3);
        const double rj = std::hypot(4e-3 - element_x(j), 17e-3);
        const double spread = spreading == Spreading::none          ? 1.0
                              : spreading == Spreading::cylindrical ? 10e-3 / std::sqrt(ri * rj)
                                                                    : 10e-3 * 10e-3 / (ri * rj);
        const double expected =
            0.8 * spread * rectangle((4e-3 - element_x(i)) / ri, 17e-3 / ri) * rectangle((4e-3 - element_x(j)) / rj, 17e-3 / rj);
        // A few roundings of double.
        EXPECT_NEAR(echo.time * velocity, ri + rj, 1e-15);
        EXPECT_NEAR(echo.amplitude / expected, 1.0, 1e-13);
      }
    }
  }
}

TEST(EchoModel, UnitScattererAtTheReferenceDistanceGivesUnitAmplitude) {
  Phantom phantom;
  phantom.points = {{"p", place(element_x(3), 10e-3), 1.0, {}}};
  EXPECT_NEAR(only_echo(phantom, {}, 3, 3).amplitude, 1.0, 1e-15);
}

TEST(EchoModel, SpreadingFallsAsStated) {
  Phantom near_one;
  near_one.points = {{"p", place(element_x(3), 12e-3), 1.0, {}}};
  Phantom far_one;
  far_one.points = {{"p", place(element_x(3), 48e-3), 1.0, {}}};
  const auto ratio = [&](Spreading spreading) {
    const EchoModelOptions options{MetresPerSecond(velocity), spreading, true};
    return only_echo(near_one, options, 3, 3).amplitude / only_echo(far_one, options, 3, 3).amplitude;
  };
  EXPECT_NEAR(ratio(Spreading::cylindrical), 4.0, 1e-12);  // (1/sqrt(r)) there and back: four times the distance
  EXPECT_NEAR(ratio(Spreading::spherical), 16.0, 1e-12);
  EXPECT_NEAR(ratio(Spreading::none), 1.0, 1e-12);
}

TEST(EchoModel, DirectivityVanishesAtItsNullAndBehindTheElement) {
  Element wide;
  wide.width = Metres(2.0 * wavelength);
  // The first null of sinc lies where w sin(theta) = lambda: 30 degrees.
  EXPECT_NEAR(element_directivity(wide, place(0.01 * std::tan(std::numbers::pi / 6.0), 0.01), Metres(wavelength)), 0.0, 1e-15);
  EXPECT_EQ(element_directivity(wide, place(0.001, -0.01), Metres(wavelength)), 0.0);
  wide.normal = {1.0, 0.0, 1.0};  // tilted by 45 degrees, and not of unit length
  // On the axis: the sine of the angle comes out as the square root of a rounding error, whose square enters.
  EXPECT_NEAR(element_directivity(wide, place(0.01, 0.01), Metres(wavelength)), 1.0, 1e-14);
}

TEST(EchoModel, HoleAnswersFromTheShortestPathOverItsSurface) {
  const double cx = 3e-3;
  const double cz = 9e-3;
  const double radius = 1.5e-3;
  Phantom phantom;
  phantom.holes = {{"h", place(cx, cz), Metres(radius), -0.6, {}}};
  const EchoModelOptions options{MetresPerSecond(velocity), Spreading::cylindrical, true};
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const auto path = [&](double angle) {
        const double x = cx + radius * std::sin(angle);
        const double z = cz - radius * std::cos(angle);
        return std::hypot(x - element_x(i), z) + std::hypot(x - element_x(j), z);
      };
      double low = -1.5;
      double high = 1.5;
      while (high - low > 1e-9) {
        const double a = low + (high - low) / 3.0;
        const double b = high - (high - low) / 3.0;
        const bool right = path(a) > path(b);
        (right ? low : high) = right ? a : b;
      }
      const double angle = 0.5 * (low + high);
      const Echo echo = only_echo(phantom, options, i, j);
      // A path at its minimum is flat: the 1e-9 rad of the search vanish, and so does the model's 1e-9.
      EXPECT_NEAR(echo.time * velocity, path(angle), 1e-14) << i << ", " << j;

      const double x = cx + radius * std::sin(angle);
      const double z = cz - radius * std::cos(angle);
      const double ri = std::hypot(x - element_x(i), z);
      const double rj = std::hypot(x - element_x(j), z);
      const double separation = element_x(i) - element_x(j);
      const double cos_between = (ri * ri + rj * rj - separation * separation) / (2.0 * ri * rj);
      const double expected = -0.6 * std::sqrt(std::sqrt(0.5 * (1.0 + cos_between))) * 10e-3 / std::sqrt(ri * rj) *
                              rectangle((x - element_x(i)) / ri, z / ri) * rectangle((x - element_x(j)) / rj, z / rj);
      EXPECT_NEAR(echo.amplitude / expected, 1.0, 1e-7) << i << ", " << j;  // first order in the search's angle
    }
  }
}

TEST(EchoModel, HoleInPulseEchoAnswersFromItsNearestPoint) {
  Phantom phantom;
  phantom.holes = {{"h", place(-2e-3, 14e-3), Metres(1e-3), 1.0, {}}};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(only_echo(phantom, {}, i, i).time * velocity, 2.0 * (std::hypot(-2e-3 - element_x(i), 14e-3) - 1e-3), 1e-14);
  }
}

TEST(EchoModel, BackwallIsSeenThroughItsImageSource) {
  Phantom phantom;
  phantom.backwalls = {{"b", Metres(20e-3), 0.7}};
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const Echo echo = only_echo(phantom, {}, i, j);
      const double dx = element_x(i) - element_x(j);
      const double path = std::hypot(dx, 40e-3);
      EXPECT_NEAR(echo.time * velocity, path, 1e-15);
      const double directivity = rectangle(dx / path, 40e-3 / path);
      EXPECT_NEAR(echo.amplitude / (0.7 * directivity * directivity * std::sqrt(10e-3 / path)), 1.0, 1e-12);
    }
  }
}

TEST(EchoModel, FiniteBackwallAnswersOnlyWhereTheMirrorPointLiesOnIt) {
  Phantom phantom;
  phantom.backwalls = {{"b", Metres(20e-3), 0.7, Metres(-1e-3), Metres(2e-3)}};
  const EchoModel model(make_probe(), {}, phantom, 0.0);
  std::vector<Echo> echoes;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      model.echoes(i, j, echoes);
      const double mirror = 0.5 * (element_x(i) + element_x(j));
      EXPECT_EQ(echoes.size(), mirror >= -1e-3 && mirror <= 2e-3 ? 1U : 0U) << i << ", " << j;
    }
  }
}

TEST(EchoModel, TransmitterAndReceiverMayBeExchanged) {
  const EchoModel model(make_probe(), {}, default_phantom(5), 0.3);
  std::vector<Echo> there;
  std::vector<Echo> back;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = i + 1; j < 8; ++j) {
      model.echoes(i, j, there);
      model.echoes(j, i, back);
      ASSERT_EQ(there.size(), default_phantom(5).reflectors());
      ASSERT_EQ(back.size(), there.size());
      for (std::size_t k = 0; k < there.size(); ++k) {
        EXPECT_NEAR(there[k].time * velocity, back[k].time * velocity, 1e-14);
        EXPECT_NEAR(there[k].amplitude, back[k].amplitude, 1e-9 * std::abs(back[k].amplitude));
      }
    }
  }
}

}  // namespace
}  // namespace echoform
