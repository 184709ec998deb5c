// The spot of a point against closed forms, and slownesses against those of straight rays.
#include "methods/point_spread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/methods/small_arrays.hpp"

namespace echoform {
namespace {

using test::living;

constexpr double velocity = 6320.0;
constexpr double frequency = 5e6;

/// Straight rays in one medium; the last source has none.
class StraightLeg final : public Leg {
 public:
  explicit StraightLeg(Probe probe) : probe_(std::move(probe)) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point& from = probe_.elements[source].centre;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      seconds[k] = source + 1 == sources() ? std::numeric_limits<double>::quiet_NaN()
                                           : std::hypot((pixels[k].x - from.x).value, (pixels[k].z - from.z).value) / velocity;
    }
  }

 private:
  Probe probe_;
};

TEST(Slownesses, AreThoseOfStraightRays) {
  Probe probe = make_linear_probe(6, Metres(4e-3), Metres(0.0), Hertz(frequency), Hertz(3e6));
  probe.elements[1].dead = true;
  const Point pixel{Metres(3e-3), Metres(), Metres(11e-3)};
  const auto found = rays_to(StraightLeg(probe), living(probe), pixel, Metres(20e-6));
  ASSERT_EQ(found.size(), 4U);  // without the dead element and the one without rays
  std::size_t k = 0;
  for (const std::size_t source : {0U, 2U, 3U, 4U}) {
    const Point& from = probe.elements[source].centre;
    const double way = std::hypot((pixel.x - from.x).value, pixel.z.value);
    // Central differences of t over h: s h^2 / (2 R^2) at most, 2e-6 of s.
    EXPECT_NEAR(found[k].slowness.x * velocity, (pixel.x - from.x).value / way, 4e-6);
    EXPECT_NEAR(found[k].slowness.z * velocity, pixel.z.value / way, 4e-6);
    EXPECT_EQ(found[k].slowness.y, 0.0);
    EXPECT_EQ(found[k].source, source);
    ++k;
  }
}

/// Of `count` rays whose directions have sines from -greatest to greatest about z.
std::vector<SpotRay> fan(std::size_t count, double greatest, double turned = 0.0) {
  std::vector<SpotRay> all;
  for (std::size_t k = 0; k < count; ++k) {
    const double sine = greatest * (2.0 * (static_cast<double>(k) + 0.5) / static_cast<double>(count) - 1.0);
    const double angle = std::asin(sine) + turned;
    all.push_back({{std::sin(angle) / velocity, 0.0, std::cos(angle) / velocity}, 1.0, k});
  }
  return all;
}

/// Without a filter; 0: one frequency.
std::vector<SpectralLine> gaussian(double bandwidth) {
  return pulse_spectrum(Hertz(frequency), Hertz(bandwidth), response_of(FilterOptions{}));
}

Spot spot(const std::vector<SpotRay>& transmit, const std::vector<SpotRay>& receive, double bandwidth = 3e6) {
  return spot_of({transmit, receive, gaussian(bandwidth)});
}

TEST(Spot, OfALinearArrayIsAsWideAsTheoryHasIt) {
  // 0.8859 lambda / (2 sin theta): sinc^2 at one half (Goodman, Introduction to Fourier Optics, section 4.4, both ways). One
  // frequency; 64 rays in place of a continuum make it wider by 2 / 64^2 at most.
  const auto rays = fan(64, 0.3);
  const Spot narrow_band = spot(rays, rays, 0.0);
  EXPECT_NEAR(narrow_band.lateral.width.value().value / (0.8859 * velocity / frequency / 0.6), 1.0, 1e-3);
  EXPECT_NEAR(narrow_band.lateral.degrees, 0.0, 0.1);
  EXPECT_FALSE(narrow_band.blind);
  // A tenth of an aperture and a Gaussian pulse: 0.88254 / B / (2 / c), and cos(0.03) of that is within 1e-3. Each of 24 lines
  // stands for an eighth of B, whose own variance, B^2 / 768 of B^2 / 5.5, is left out: widths are 4e-3 greater.
  const auto narrow = fan(64, 0.03);
  const Spot pulse = spot(narrow, narrow);
  EXPECT_NEAR(pulse.axial.width.value().value / (4.0 * std::numbers::ln2 / std::numbers::pi / 3e6 * velocity / 2.0), 1.0, 5e-3);
  EXPECT_NEAR(pulse.axial.degrees, 90.0, 0.1);
}

TEST(Spot, TurnsWithItsRays) {
  const Spot upright = spot(fan(32, 0.3), fan(32, 0.3));
  // Rays that go towards greater x as they go down: the spot is long across them.
  const double turn = std::numbers::pi / 6.0;
  const Spot turned = spot(fan(32, 0.3, turn), fan(32, 0.3, turn));
  EXPECT_NEAR(turned.axial.degrees, 60.0, 1e-6);
  EXPECT_NEAR(turned.lateral.degrees, 150.0, 1e-6);
  EXPECT_NEAR(turned.lateral.width.value().value, upright.lateral.width.value().value, 1e-9);
  EXPECT_NEAR(turned.axial.width.value().value, upright.axial.width.value().value, 1e-9);
}

TEST(Spot, OfOppositeWaysIsBlindAlongThem) {
  const auto down = fan(32, 0.3);
  const auto up = fan(32, 0.3, std::numbers::pi);
  const Spot opposite = spot(up, down);
  EXPECT_TRUE(opposite.blind);
  EXPECT_NEAR(opposite.axial.degrees, 90.0, 1e-6);
  // The aperture alone tells depth: cosines from 0.954 to 1 in place of sines from -0.3 to 0.3.
  EXPECT_GT(opposite.axial.width.value().value, 5.0 * opposite.lateral.width.value().value);
  // A single ray each way tells nothing.
  const Spot line = spot(fan(1, 0.0), fan(1, 0.0, std::numbers::pi));
  EXPECT_TRUE(line.blind);
  EXPECT_FALSE(line.axial.width);
  EXPECT_FALSE(line.lateral.width);
}

/// What a brute-force image of a point, over all pairs of elements with their whole travel times, loses `off` from the point; dB.
PixelLoss brute_force_loss(const Probe& probe, const Point& point, double bandwidth, double x, double z) {
  const auto image = [&](double dx, double dz) {
    std::vector<double> later;
    for (const Element& element : probe.elements) {
      const auto time = [&](double px, double pz) {
        return std::hypot(px - element.centre.x.value, pz - element.centre.z.value) / velocity;
      };
      later.push_back(time(point.x.value + dx, point.z.value + dz) - time(point.x.value, point.z.value));
    }
    // The pulse whose spectrum is a Gaussian that is `bandwidth` wide at one half.
    std::complex<double> sum = 0.0;
    for (const double tx : later) {
      for (const double rx : later) {
        const double t = tx + rx;
        const double squared = std::numbers::pi * bandwidth * t * std::numbers::pi * bandwidth * t;
        sum += std::polar(std::exp(-squared / (4.0 * std::numbers::ln2)), 2.0 * std::numbers::pi * frequency * t);
      }
    }
    return sum;
  };
  const double peak = std::abs(image(0.0, 0.0));
  PixelLoss worst;
  for (const double side : {-0.5, 0.5}) {
    const std::complex<double> there = image(0.5 * x, side * z);
    worst.envelope = std::max(worst.envelope, 20.0 * std::log10(peak / std::abs(there)));
    worst.oscillating = std::max(
        worst.oscillating, there.real() > 0.0 ? 20.0 * std::log10(peak / there.real()) : std::numeric_limits<double>::infinity());
  }
  return worst;
}

TEST(Spot, OfSparseFiringsIsThatOfTheTwoWayResponse) {
  // The middle four of 32 elements fire, all record; a point in front of them, at f/1 for those that record.
  const double wavelength = velocity / frequency;
  Probe probe = make_linear_probe(33, Metres(0.5 * wavelength), Metres(0.0), Hertz(frequency), Hertz(3e6));
  const StraightLeg leg(probe);  // the last source has no rays
  const Point point{probe.elements[16].centre.x - Metres(0.25 * wavelength), Metres(), Metres(16.0 * wavelength)};
  std::vector<bool> fires(33, false);
  for (const std::size_t k : {14U, 15U, 16U, 17U}) fires[k] = true;
  const Metres step(0.02 * wavelength);
  const auto out = rays_to(leg, fires, point, step);
  const auto back = rays_to(leg, std::vector<bool>(33, true), point, step);
  ASSERT_EQ(out.size(), 4U);
  ASSERT_EQ(back.size(), 32U);

  // Whole travel times of all pairs, and the pulse whose spectrum is a Gaussian of 3 MHz at one half.
  const auto image = [&](double dx, const std::vector<bool>& transmits) {
    const auto later = [&](std::size_t k) {
      const Point& centre = probe.elements[k].centre;
      const double x = (point.x - centre.x).value;
      return (std::hypot(x + dx, point.z.value) - std::hypot(x, point.z.value)) / velocity;
    };
    std::complex<double> sum = 0.0;
    for (std::size_t tx = 0; tx < 32; ++tx) {
      for (std::size_t rx = 0; rx < 32 && transmits[tx]; ++rx) {
        const double t = later(tx) + later(rx);
        const double turned = std::numbers::pi * 3e6 * t;
        sum += std::polar(std::exp(-turned * turned / (4.0 * std::numbers::ln2)), 2.0 * std::numbers::pi * frequency * t);
      }
    }
    return std::abs(sum);
  };
  const auto width = [&](const std::vector<bool>& transmits) {
    double whole = 0.0;
    for (const double side : {-1.0, 1.0}) {
      double off = 0.0;
      while (image(side * off, transmits) > 0.5 * image(0.0, transmits)) off += 1e-3 * wavelength;
      whole += off;
    }
    return whole;
  };
  const double sparse = width(fires);
  const double full = width(std::vector<bool>(33, true));
  ASSERT_GT(std::abs(sparse / full - 1.0), 0.05) << "so that the test tells them apart";
  const Spot found = spot(out, back);
  EXPECT_NEAR(found.lateral.degrees, 0.0, 0.5);
  // Half a width off, 0.6 wavelengths, rays have turned by a twenty-fifth, which is opposite on both sides of the point.
  EXPECT_NEAR(found.lateral.width.value().value / sparse, 1.0, 0.01);
}

TEST(CoarsestPixel, LosesTwoDecibelsOfABruteForceImageAtAnyFNumber) {
  const double wavelength = velocity / frequency;
  constexpr std::size_t count = 64;
  Probe probe = make_linear_probe(count, Metres(0.5 * wavelength), Metres(0.0), Hertz(frequency), Hertz(3e6));
  probe.elements.push_back(probe.elements.back());  // which StraightLeg gives no rays
  const StraightLeg leg(probe);
  probe.elements.back().dead = true;
  Probe of_living = probe;
  of_living.elements.pop_back();
  double before = 0.0;
  for (const double f_number : {0.25, 0.5, 1.0, 2.0}) {
    const Point point{Metres(), Metres(), Metres(f_number * count * 0.5 * wavelength)};
    const auto rays = rays_to(leg, living(probe), point, Metres(0.02 * wavelength));
    const auto spectrum = gaussian(3e6);
    const Meeting meeting{rays, rays, spectrum};
    ASSERT_EQ(rays.size(), count);
    const CoarsestPixel coarsest = coarsest_pixel(meeting, 2.0);
    // The spectrum ends where 0.2 % is left, and rays turn by a hundredth over half a pixel at f/0.25: some
    // hundredths of a decibel each.
    EXPECT_NEAR(brute_force_loss(of_living, point, 3e6, coarsest.envelope.value, coarsest.envelope.value).envelope, 2.0, 0.1)
        << f_number;
    EXPECT_NEAR(brute_force_loss(of_living, point, 3e6, coarsest.oscillating.value, coarsest.oscillating.value).oscillating, 2.0,
                0.1)
        << f_number;
    EXPECT_LT(coarsest.oscillating, coarsest.envelope);
    EXPECT_GT(coarsest.envelope.value, before) << "a smaller aperture takes coarser pixels";
    before = coarsest.envelope.value;
    // Other shapes of pixels, and those that lose much: a third of a wavelength at f/0.25 loses 4.7 dB.
    const double third = wavelength / 3.3;
    for (const auto& [x, z] : {std::pair{third, third}, std::pair{0.5 * third, third}, std::pair{third, 0.1 * third}}) {
      EXPECT_NEAR(pixel_loss(meeting, {Metres(x), Metres(), Metres(z)}).envelope,
                  brute_force_loss(of_living, point, 3e6, x, z).envelope, 0.1)
          << f_number;
    }
    if (f_number == 0.25) {
      EXPECT_GT(brute_force_loss(of_living, point, 3e6, third, third).envelope, 4.5);
    }
  }
}

/// Over a matrix array, whole travel times of all pairs; in dB, of the image `off` from the point.
double brute_force_volume_loss(const Probe& probe, const Point& point, const Point& off) {
  const auto image = [&](double dx, double dy, double dz) {
    std::vector<double> later;
    for (const Element& element : probe.elements) {
      const auto time = [&](double px, double py, double pz) {
        return std::hypot(px - element.centre.x.value, py - element.centre.y.value, pz) / velocity;
      };
      later.push_back(time(point.x.value + dx, point.y.value + dy, point.z.value + dz) -
                      time(point.x.value, point.y.value, point.z.value));
    }
    std::complex<double> sum = 0.0;
    for (const double tx : later) {
      for (const double rx : later) {
        const double turned = std::numbers::pi * 3e6 * (tx + rx);
        sum += std::polar(std::exp(-turned * turned / (4.0 * std::numbers::ln2)), 2.0 * std::numbers::pi * frequency * (tx + rx));
      }
    }
    return std::abs(sum);
  };
  return 20.0 * std::log10(image(0.0, 0.0, 0.0) / image(off.x.value, off.y.value, off.z.value));
}

/// Straight rays to anywhere.
class SpatialLeg final : public Leg {
 public:
  explicit SpatialLeg(Probe probe) : probe_(std::move(probe)) {}
  [[nodiscard]] std::size_t sources() const noexcept override { return probe_.elements.size(); }
  void travel_times(std::size_t source, std::span<const Point> pixels, std::span<double> seconds) const override {
    const Point& from = probe_.elements[source].centre;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      seconds[k] =
          std::hypot((pixels[k].x - from.x).value, (pixels[k].y - from.y).value, (pixels[k].z - from.z).value) / velocity;
    }
  }

 private:
  Probe probe_;
};

TEST(CoarsestPixel, OfAVolumeLosesTwoDecibelsHalfAPixelOffInThreeDirections) {
  // Asked in two planes one by one, as of images, such a cube loses 2.6 dB.
  const double wavelength = velocity / frequency;
  const Probe probe = make_matrix_probe({.columns = 12,
                                         .rows = 12,
                                         .pitch = Metres(0.5 * wavelength),
                                         .row_pitch = Metres(0.5 * wavelength),
                                         .width = Metres(),
                                         .length = Metres()},
                                        Hertz(frequency), Hertz(3e6));
  const Point point{Metres(), Metres(), Metres(8.0 * wavelength)};
  const std::vector<bool> all(probe.elements.size(), true);
  const auto rays = rays_to(SpatialLeg(probe), all, point, Metres(0.02 * wavelength), RaySpace::volume);
  const auto spectrum = gaussian(3e6);
  const Meeting meeting{rays, rays, spectrum};
  const Metres edge = coarsest_pixel(meeting, 2.0, RaySpace::volume).envelope;
  double worst = 0.0;
  for (const double y : {0.5, -0.5}) {
    for (const double z : {0.5, -0.5}) {
      worst = std::max(worst, brute_force_volume_loss(probe, point, {0.5 * edge, y * edge, z * edge}));
    }
  }
  // The spectrum ends where 0.2 % is left, and rays turn by some hundredths over half a pixel at f/1.3.
  EXPECT_NEAR(worst, 2.0, 0.1);
  EXPECT_NEAR(pixel_loss(meeting, {edge, edge, edge}).envelope, 2.0, 1e-3);
  const Metres of_images = coarsest_pixel(meeting, 2.0).envelope;
  EXPECT_GT(brute_force_volume_loss(probe, point, {0.5 * of_images, 0.5 * of_images, 0.5 * of_images}), 2.5)
      << "so that the test tells them apart";
}

TEST(PulseSpectrum, IsWhatTheFilterLeaves) {
  // A band well within the pulse's: its own width counts, 1.2067 / B for a box, less what the pulse's slopes and the edges' add.
  FilterOptions narrow;
  narrow.kind = FilterKind::band;
  narrow.sample_rate = Hertz(50e6);
  narrow.low = Hertz(4.5e6);
  narrow.high = Hertz(5.5e6);
  narrow.skirt = Hertz(0.05e6);
  const auto spectrum = pulse_spectrum(Hertz(frequency), Hertz(6e6), response_of(narrow));
  const std::vector<SpotRay> straight{{{0.0, 0.0, 1.0 / velocity}, 1.0, 0}};
  const Spot boxed = spot_of({straight, straight, spectrum});
  EXPECT_NEAR(boxed.axial.width.value().value / (1.2067 / 1e6 * velocity / 2.0), 1.0, 0.02);
  // Beside the pulse the mean moves towards it, and nothing is left where the filter passes nothing of it.
  FilterOptions beside = narrow;
  beside.low = Hertz(2e6);
  beside.high = Hertz(4e6);
  const SpectralMoments moments = moments_of(pulse_spectrum(Hertz(frequency), Hertz(3e6), response_of(beside)));
  EXPECT_GT(moments.mean, 3.0e6);
  EXPECT_LT(moments.mean, 4.0e6);
  const auto nothing = pulse_spectrum(Hertz(frequency), Hertz(3e6), [](double) { return 0.0; });
  EXPECT_TRUE(nothing.empty());
  // A Gaussian has a variance of B^2 / (8 ln 2), less what is cut off where 0.2 % is left.
  EXPECT_NEAR(moments_of(gaussian(3e6)).variance / (9e12 / (8.0 * std::numbers::ln2)), 1.0, 0.03);
}

TEST(Spot, IsAsWideAsItsWeightsMakeIt) {
  // Hann on either side at one frequency: |sinc(u) / (1 - u^2)|^2, u = 2 d sin / lambda, is one half of its greatest in amplitude
  // where sinc(u) / (1 - u^2) is 0.7071: u = 0.7203, by bisection.
  std::vector<SpotRay> rays = fan(128, 0.3);
  for (std::size_t k = 0; k < rays.size(); ++k) {
    rays[k].weight = std::pow(std::sin(std::numbers::pi * (static_cast<double>(k) + 0.5) / 128.0), 2);
  }
  double low = 0.0;
  double high = 0.99;
  while (high - low > 1e-9) {
    const double u = 0.5 * (low + high);
    const double response = std::sin(std::numbers::pi * u) / (std::numbers::pi * u) / (1.0 - u * u);
    (response > std::numbers::sqrt2 / 2.0 ? low : high) = u;
  }
  const double width = 2.0 * low * velocity / frequency / (2.0 * 0.3);
  EXPECT_NEAR(spot(rays, rays, 0.0).lateral.width.value().value / width, 1.0, 1e-3);
}

}  // namespace
}  // namespace echoform
