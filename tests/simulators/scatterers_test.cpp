// Tissue: where its scatterers are, how strong, and how they move; and frames with tissue in them.
#include "simulators/scatterers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "simulators/frame_cycle.hpp"

namespace echoform {
namespace {

Tissue plain_tissue(std::size_t scatterers = 40000) {
  Tissue tissue;
  tissue.speckle.scatterers = scatterers;
  tissue.speckle.x = {Metres(-10e-3), Metres(10e-3)};
  tissue.speckle.z = {Metres(5e-3), Metres(25e-3)};
  tissue.speckle.rms = 0.1;
  return tissue;
}

double mean_square(const std::vector<Scatterer>& all) {
  double sum = 0.0;
  for (const Scatterer& one : all) sum += one.reflectivity * one.reflectivity;
  return sum / static_cast<double>(all.size());
}

TEST(Scatterers, FillTheirBoxEvenly) {
  const Tissue tissue = plain_tissue();
  const Scatterers scatterers(tissue);
  ASSERT_EQ(scatterers.still().size(), 40000U);
  EXPECT_EQ(scatterers.moving(), 0U);
  std::vector<double> counts(16);
  for (const Scatterer& one : scatterers.still()) {
    const double u = (one.place.x.value + 10e-3) / 20e-3;
    const double v = (one.place.z.value - 5e-3) / 20e-3;
    ASSERT_TRUE(u >= 0.0 && u < 1.0 && v >= 0.0 && v < 1.0);
    EXPECT_EQ(one.place.y.value, 0.0);
    ++counts[static_cast<std::size_t>(4.0 * u) * 4 + static_cast<std::size_t>(4.0 * v)];
  }
  // Of 2500 each five deviations of a binomial count.
  for (const double count : counts) EXPECT_NEAR(count, 2500.0, 5.0 * std::sqrt(2500.0));
  // The mean square of 40,000 normal numbers is off by five times sqrt(2 / 40000) at most.
  EXPECT_NEAR(mean_square(scatterers.still()), 0.01, 0.01 * 5.0 * std::sqrt(2.0 / 40000.0));
}

TEST(Scatterers, AreTheSameForTheSameSeedAlone) {
  Tissue tissue = plain_tissue(100);
  const auto places = [&] {
    std::vector<Point> all;
    const Scatterers scatterers(tissue);
    for (const Scatterer& one : scatterers.still()) all.push_back(one.place);
    return all;
  };
  const auto first = places();
  EXPECT_EQ(places(), first);
  tissue.seed = 2;
  EXPECT_NE(places(), first);
}

TEST(Scatterers, AreAsStrongInCystsAsTheseSay) {
  Tissue tissue = plain_tissue();
  tissue.cysts = {{{Metres(-5e-3), Metres(0.0), Metres(15e-3)}, Metres(3e-3), -std::numeric_limits<double>::infinity(), false},
                  {{Metres(5e-3), Metres(0.0), Metres(15e-3)}, Metres(3e-3), 6.0, false}};
  const Scatterers scatterers(tissue);
  std::vector<Scatterer> strong;
  for (const Scatterer& one : scatterers.still()) {
    const double z = one.place.z.value - 15e-3;
    EXPECT_GE(std::hypot(one.place.x.value + 5e-3, z), 3e-3);
    if (std::hypot(one.place.x.value - 5e-3, z) < 3e-3) strong.push_back(one);
  }
  const double wanted = 0.01 * std::pow(10.0, 0.6);
  EXPECT_NEAR(mean_square(strong), wanted, wanted * 5.0 * std::sqrt(2.0 / static_cast<double>(strong.size())));
}

TEST(Scatterers, FlowFastestInTheMiddleOfAVessel) {
  for (const bool flat : {true, false}) {
    Tissue tissue = plain_tissue();
    if (!flat) tissue.speckle.y = {Metres(-4e-3), Metres(4e-3)};
    Vessel vessel;
    vessel.first = {Metres(-8e-3), Metres(0.0), Metres(12e-3)};
    vessel.last = {Metres(8e-3), Metres(0.0), Metres(18e-3)};
    vessel.radius = Metres(2e-3);
    vessel.peak = MetresPerSecond(0.4);
    tissue.vessels = {vessel};
    validate(tissue, "test");
    const Scatterers scatterers(tissue);
    const double length = std::hypot(16e-3, 6e-3);
    const double c = 16e-3 / length;
    const double s = 6e-3 / length;
    const double size = flat ? length * 4e-3 / 400e-6 : length * std::numbers::pi * 4e-6 / 3.2e-6;
    EXPECT_NEAR(static_cast<double>(scatterers.moving()), 40000.0 * size, 1.0);
    std::vector<Scatterer> before;
    std::vector<Scatterer> after;
    constexpr double time = 3e-3;
    scatterers.moving_at(0.0, before);
    scatterers.moving_at(time, after);
    for (std::size_t k = 0; k < before.size(); ++k) {
      const auto from_first = [&](const Point& place) {
        const double x = place.x.value + 8e-3;
        const double z = place.z.value - 12e-3;
        return std::pair(x * c + z * s, std::hypot(z * c - x * s, place.y.value));
      };
      const auto [along, radius] = from_first(before[k].place);
      const auto [later_along, later_radius] = from_first(after[k].place);
      EXPECT_LE(radius, 2e-3 * (1.0 + 1e-9));
      EXPECT_NEAR(later_radius, radius, 1e-12);
      double moved = later_along - along;
      if (moved < 0.0) moved += length;  // came in again
      EXPECT_NEAR(moved, 0.4 * (1.0 - radius * radius / 4e-6) * time, 1e-9);
      EXPECT_TRUE(later_along >= -1e-12 && later_along <= length + 1e-12);
    }
    // The region has none of its own there.
    for (const Scatterer& one : scatterers.still()) {
      const double x = one.place.x.value + 8e-3;
      const double z = one.place.z.value - 12e-3;
      const double along = x * c + z * s;
      if (along < 0.0 || along > length) continue;
      EXPECT_GE(std::hypot(z * c - x * s, one.place.y.value), 2e-3);
    }
  }
}

TEST(Scatterers, TurnWithTheirDisk) {
  Tissue tissue = plain_tissue();
  tissue.disks = {{{Metres(2e-3), Metres(0.0), Metres(14e-3)}, Metres(4e-3), 2.0, 0.0}};
  const Scatterers scatterers(tissue);
  EXPECT_NEAR(static_cast<double>(scatterers.moving()), 40000.0 * std::numbers::pi * 16e-6 / 400e-6, 1.0);
  std::vector<Scatterer> before;
  std::vector<Scatterer> quarter;
  std::vector<Scatterer> whole;
  scatterers.moving_at(0.0, before);
  scatterers.moving_at(0.125, quarter);
  scatterers.moving_at(0.5, whole);
  for (std::size_t k = 0; k < before.size(); ++k) {
    const double x = before[k].place.x.value - 2e-3;
    const double z = before[k].place.z.value - 14e-3;
    EXPECT_LE(std::hypot(x, z), 4e-3);
    // From +z towards +x.
    EXPECT_NEAR(quarter[k].place.x.value - 2e-3, z, 1e-12);
    EXPECT_NEAR(quarter[k].place.z.value - 14e-3, -x, 1e-12);
    EXPECT_NEAR(whole[k].place.x.value, before[k].place.x.value, 1e-12);
    EXPECT_NEAR(whole[k].place.z.value, before[k].place.z.value, 1e-12);
  }
}

SimulatorConfiguration tissue_source() {
  SimulatorConfiguration c;
  c.elements = 8;
  c.samples = 512;
  c.material.longitudinal_velocity = MetresPerSecond(1540.0);
  c.encoding = SampleEncoding::float32;
  c.quantised = false;
  c.noise_rms = 0.0;
  c.cycle_frames = 4;
  c.phantom = {};
  c.tissue = plain_tissue(200);
  return c;
}

std::vector<float> floats_of(const SimulatorConfiguration& c, std::uint64_t frame = 0) {
  const FmcSimulator simulator(c);
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(frame, bytes);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The same scatterers as points of the phantom, which EchoModel simulates.
Phantom as_points(const std::vector<Scatterer>& scatterers) {
  Phantom phantom;
  for (const Scatterer& one : scatterers) phantom.points.push_back({"", one.place, one.reflectivity, {}});
  return phantom;
}

void expect_same(const std::vector<float>& found, const std::vector<float>& expected) {
  double wrong = 0.0;
  double right = 0.0;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) {
    wrong += std::pow(static_cast<double>(found[n]) - static_cast<double>(expected[n]), 2.0);
    right += std::pow(static_cast<double>(expected[n]), 2.0);
  }
  EXPECT_GT(right, 0.0);
  EXPECT_LT(wrong, 1e-6 * right);
}

TEST(TissueFrames, AreThoseOfAsManyPoints) {
  for (const MatrixKind kind : {MatrixKind::full, MatrixKind::half, MatrixKind::half_summed}) {
    SimulatorConfiguration c = tissue_source();
    c.matrix = kind;
    c.phantom.points = {{"beside", {Metres(1e-3), Metres(0.0), Metres(12e-3)}, 0.3, {}}};
    const auto found = floats_of(c);
    c.phantom = as_points(Scatterers(c.tissue).still());
    c.phantom.points.push_back({"beside", {Metres(1e-3), Metres(0.0), Metres(12e-3)}, 0.3, {}});
    c.tissue = {};
    expect_same(found, floats_of(c));
  }
}

TEST(TissueFrames, MoveOnByTheFrameRate) {
  SimulatorConfiguration c = tissue_source();
  c.frame_rate = Hertz(50.0);
  c.tissue.disks = {{{Metres(0.0), Metres(0.0), Metres(15e-3)}, Metres(5e-3), 3.0, 0.0}};
  for (const std::uint64_t frame : {0U, 3U, 5U}) {
    const auto found = floats_of(c, frame);
    SimulatorConfiguration points = c;
    const Scatterers scatterers(c.tissue);
    std::vector<Scatterer> all;
    scatterers.moving_at(static_cast<double>(frame % 4) / 50.0, all);
    all.insert(all.end(), scatterers.still().begin(), scatterers.still().end());
    points.phantom = as_points(all);
    points.tissue = {};
    expect_same(found, floats_of(points));
  }
}

TEST(TissueFrames, MoveOnFromEventToEventByThePulseRepetition) {
  SimulatorConfiguration c = tissue_source();
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 1;
  c.transmit.repeats = 3;
  c.pulse_repetition = Hertz(1000.0);
  Vessel vessel;
  vessel.first = {Metres(-6e-3), Metres(0.0), Metres(10e-3)};
  vessel.last = {Metres(6e-3), Metres(0.0), Metres(14e-3)};
  vessel.radius = Metres(1.5e-3);
  vessel.peak = MetresPerSecond(0.5);
  vessel.decibels = 20.0;
  c.tissue.vessels = {vessel};
  const auto found = floats_of(c, 1);
  const std::size_t event_size = found.size() / 3;
  for (std::size_t event = 0; event < 3; ++event) {
    SimulatorConfiguration points = c;
    const Scatterers scatterers(c.tissue);
    std::vector<Scatterer> all;
    scatterers.moving_at(1.0 / 25.0 + static_cast<double>(event) / 1000.0, all);
    all.insert(all.end(), scatterers.still().begin(), scatterers.still().end());
    points.phantom = as_points(all);
    points.tissue = {};
    points.transmit.repeats = 1;
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(event * event_size);
    expect_same({begin, begin + static_cast<std::ptrdiff_t>(event_size)}, floats_of(points));
  }
}

TEST(TissueFrames, OfACycleAreTheSimulatorsOwn) {
  SimulatorConfiguration c = tissue_source();
  c.encoding = SampleEncoding::int16;
  c.quantised = true;
  c.noise_rms = 0.01;
  c.tissue.disks = {{{Metres(0.0), Metres(0.0), Metres(15e-3)}, Metres(5e-3), 3.0, 0.0}};
  FrameCycle cycle(c);
  const FmcSimulator simulator(c);
  std::vector<std::byte> alone(simulator.acquisition().frame_bytes());
  for (std::uint64_t frame = 0; frame < 4; ++frame) {
    simulator.synthesise(frame, alone);
    EXPECT_TRUE(std::ranges::equal(cycle.frame(frame), alone));
  }
}

}  // namespace
}  // namespace echoform
