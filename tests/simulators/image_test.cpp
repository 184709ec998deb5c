// An independent total-focusing image of simulated frames puts every reflector where it truly is, as wide as theory says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "simulators/frame_cycle.hpp"
#include "tests/simulators/reference.hpp"

namespace echoform {
namespace {

constexpr double sound_velocity = 6320.0;

struct Peak {
  double x = 0.0;
  double z = 0.0;
  double value = -1.0;
};

/// Largest value of a patch around (x, z) in steps far below a pixel.
Peak peak_near(const Acquisition& acquisition, const std::vector<test::AnalyticSignal>& matrix, double x, double z,
               double reach_x, double reach_z, double step) {
  Peak peak;
  const int nx = static_cast<int>(std::lround(reach_x / step));
  const int nz = static_cast<int>(std::lround(reach_z / step));
  for (int iz = -nz; iz <= nz; ++iz) {
    for (int ix = -nx; ix <= nx; ++ix) {
      const Peak here{x + ix * step, z + iz * step,
                      test::focus(acquisition, matrix, sound_velocity, x + ix * step, z + iz * step)};
      if (here.value > peak.value) peak = here;
    }
  }
  return peak;
}

const double pixel_x = demo_grid().x.spacing().value;
const double pixel_z = demo_grid().z.spacing().value;

/// Brightest pixel of the demo's grid within `reach_x` and 1 mm of (x, z).
Peak brightest_pixel(const Acquisition& acquisition, const std::vector<test::AnalyticSignal>& matrix, double x, double z,
                     double reach_x) {
  Peak peak;
  const Grid grid = demo_grid();
  for (std::size_t iz = 0; iz < grid.z.count; ++iz) {
    for (std::size_t ix = 0; ix < grid.x.count; ++ix) {
      Peak here{grid.x.at(ix).value, grid.z.at(iz).value};
      if (std::abs(here.x - x) > reach_x || std::abs(here.z - z) > 1e-3) continue;
      here.value = test::focus(acquisition, matrix, sound_velocity, here.x, here.z);
      if (here.value > peak.value) peak = here;
    }
  }
  return peak;
}

class DemoImage : public testing::TestWithParam<std::pair<std::uint64_t, std::uint64_t>> {};

TEST_P(DemoImage, ShowsEveryReflectorWithinOnePixel) {
  const auto [seed, frame] = GetParam();
  const FmcSimulator simulator(demo_simulator(seed));
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(frame, bytes);
  const auto matrix = test::analytic_matrix(simulator.acquisition(), bytes);
  double weakest = 1e9;
  double strongest = 0.0;
  for (const TruePosition& truth : simulator.true_positions(frame)) {
    const double x = truth.place.x.value;
    const double z = truth.place.z.value;
    // A backwall is a line: only its depth is a place.
    const bool wall = truth.kind == ReflectorKind::backwall;
    const Peak peak = peak_near(simulator.acquisition(), matrix, x, z, wall ? 0.0 : 1e-3, 1e-3, 0.05e-3);
    std::printf("%-16s true (%7.3f, %7.3f) mm, image off by (%6.3f, %6.3f) mm, envelope %.5f\n", std::string(truth.name).c_str(),
                1e3 * x, 1e3 * z, 1e3 * (peak.x - x), 1e3 * (peak.z - z), peak.value);
    // Half a pixel for the image, half for the grid that it is then seen on: one pixel together.
    EXPECT_LT(std::abs(peak.x - x), 0.5 * pixel_x) << truth.name;
    EXPECT_LT(std::abs(peak.z - z), 0.5 * pixel_z) << truth.name;
    const Peak seen = brightest_pixel(simulator.acquisition(), matrix, x, z, wall ? 0.6 * pixel_x : 1e-3);
    EXPECT_LE(std::abs(seen.z - z), pixel_z) << truth.name;
    if (!wall) {
      EXPECT_LE(std::abs(seen.x - x), pixel_x) << truth.name;
    }
    weakest = std::min(weakest, peak.value);
    strongest = std::max(strongest, peak.value);
  }
  // All of them at once on a display of 40 dB, with room.
  EXPECT_GT(weakest / strongest, std::pow(10.0, -25.0 / 20.0));
}

INSTANTIATE_TEST_SUITE_P(SeedsAndFrames, DemoImage,
                         testing::Values(std::pair<std::uint64_t, std::uint64_t>{1, 0},
                                         std::pair<std::uint64_t, std::uint64_t>{1, 13},
                                         std::pair<std::uint64_t, std::uint64_t>{2, 21},
                                         std::pair<std::uint64_t, std::uint64_t>{42, 40}));

/// Full width at half of the peak, along a line through it; the profile falls from the peak outwards.
template <class Profile>
double width_at_half(Profile profile) {
  const double half = 0.5 * profile(0.0);
  const auto crossing = [&](double sign) {
    double inside = 0.0;
    double outside = 0.1e-3;
    while (profile(sign * outside) > half) {
      inside = outside;
      outside += 0.1e-3;
    }
    while (outside - inside > 1e-7) {
      const double middle = 0.5 * (inside + outside);
      (profile(sign * middle) > half ? inside : outside) = middle;
    }
    return 0.5 * (inside + outside);
  };
  return crossing(1.0) + crossing(-1.0);
}

SimulatorConfiguration ideal_scatterer(double z, double bandwidth) {
  SimulatorConfiguration configuration;
  configuration.samples = 2048;
  configuration.encoding = SampleEncoding::float32;
  configuration.quantised = false;
  configuration.noise_rms = 0.0;
  configuration.directivity = false;
  configuration.spreading = Spreading::none;
  configuration.fractional_bandwidth = bandwidth;
  configuration.phantom = {};
  configuration.phantom.points = {{"p", {Metres(0.0), Metres(0.0), Metres(z)}, 1.0, {}}};
  return configuration;
}

TEST(BeamWidth, LateralIsThatOfTheTwoWayAperture) {
  // |sinc(x / (lambda F))|^2 has half its peak over 0.8859 lambda F; 32 elements at 0.6 mm are 19.2 mm wide, z = 3 D.
  // Spherical delays and the finite spectrum differ by a few per cent from the paraxial narrow-band formula at F = 3.
  const double depth = 57.6e-3;
  const FmcSimulator simulator(ideal_scatterer(depth, 0.1));
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(0, bytes);
  const auto matrix = test::analytic_matrix(simulator.acquisition(), bytes);
  const double wavelength = sound_velocity / 5e6;
  const double measured =
      width_at_half([&](double x) { return test::focus(simulator.acquisition(), matrix, sound_velocity, x, depth); });
  const double expected = 0.8859 * wavelength * 3.0;
  std::printf("lateral width %.4f mm, formula %.4f mm\n", 1e3 * measured, 1e3 * expected);
  EXPECT_NEAR(measured / expected, 1.0, 0.04);
}

TEST(BeamWidth, AxialIsThatOfThePulse) {
  // (c / 2) * 0.8825 / (B f); at F = 3 the outer pairs' rays lean by up to 9.5 degrees, 1.4 % longer in depth at most.
  const double depth = 57.6e-3;
  const FmcSimulator simulator(ideal_scatterer(depth, 0.6));
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(0, bytes);
  const auto matrix = test::analytic_matrix(simulator.acquisition(), bytes);
  const double measured =
      width_at_half([&](double z) { return test::focus(simulator.acquisition(), matrix, sound_velocity, 0.0, depth + z); });
  const double expected = 0.5 * sound_velocity * 0.8825 / (0.6 * 5e6);
  std::printf("axial width %.4f mm, formula %.4f mm\n", 1e3 * measured, 1e3 * expected);
  EXPECT_NEAR(measured / expected, 1.0, 0.02);
  // At the scatterer every pair adds up to the amplitude itself. Linear interpolation half way between samples takes a
  // carrier of 1/8 cycle a sample down to cos(pi / 8) at worst, and never up.
  const double peak = test::focus(simulator.acquisition(), matrix, sound_velocity, 0.0, depth);
  EXPECT_LE(peak, 1.0 + 1e-6);
  EXPECT_GE(peak, std::cos(std::numbers::pi / 8.0));
}

}  // namespace
}  // namespace echoform
