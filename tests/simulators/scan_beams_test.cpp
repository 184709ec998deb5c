// Beams of scan lines as they are stated, against the lines that follow from their events.
#include "simulators/scan_beams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "acquisition/probe_frame.hpp"
#include "acquisition/scan_lines.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "methods/overrides.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "simulators/fmc_simulator.hpp"

namespace echoform {
namespace {

constexpr double to_radians = std::numbers::pi / 180.0;

SimulatorConfiguration source_of_beams(std::size_t elements, std::size_t beams) {
  SimulatorConfiguration c;
  c.elements = elements;
  c.pitch = Metres(0.3e-3);
  c.element_width = Metres(0.25e-3);
  c.material.longitudinal_velocity = MetresPerSecond(1540.0);
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = beams;
  c.phantom = {};
  return c;
}

/// Origin in coordinates of the part.
void expect_beam(const SimulatorConfiguration& c, std::size_t event, const Point& origin, const Direction& direction) {
  validate(c, "test");
  const Acquisition acquisition = acquisition_of(c);
  const auto line = line_of_event(acquisition, event, c.material.longitudinal_velocity);
  ASSERT_TRUE(line.has_value());
  const ProbeFrame frame = frame_of(acquisition.probe);
  const Point from = frame.to_global(line->origin);
  // Two elements in the middle of an arc stand on a chord: less than a micrometre.
  const double tolerance = c.radius.value > 0.0 ? 1e-6 : 1e-9;
  EXPECT_NEAR(from.x.value, origin.x.value, tolerance) << event;
  EXPECT_NEAR(from.y.value, origin.y.value, tolerance) << event;
  EXPECT_NEAR(from.z.value, origin.z.value, tolerance) << event;
  EXPECT_NEAR(line->direction.x, direction.x, 1e-9) << event;
  EXPECT_NEAR(line->direction.y, direction.y, 1e-9) << event;
  EXPECT_NEAR(line->direction.z, direction.z, 1e-9) << event;
}

TEST(ScanBeams, OfASectorLeaveTheMiddleAtEqualAngles) {
  SimulatorConfiguration c = source_of_beams(64, 91);
  c.transmit.angles = {-45.0, 45.0};
  for (const double focus : {60e-3, -15e-3, std::numeric_limits<double>::infinity()}) {
    c.transmit.focus = Metres(focus);
    for (const std::size_t event : {0U, 20U, 45U, 90U}) {
      const double angle = (static_cast<double>(event) - 45.0) * to_radians;
      expect_beam(c, event, {}, {std::sin(angle), 0.0, std::cos(angle)});
    }
    EXPECT_EQ(std::holds_alternative<PlaneWaveEvent>(acquisition_of(c).events.front().form), std::isinf(focus));
  }
}

TEST(ScanBeams, OfALinearArrayWalkAPitchALine) {
  SimulatorConfiguration c = source_of_beams(128, 97);
  c.transmit.aperture = 32;
  c.transmit.focus = Metres(25e-3);
  c.transmit.receive_aperture = 64;
  for (const std::size_t event : {0U, 33U, 48U, 96U}) {
    const double x = 0.3e-3 * (static_cast<double>(event) - 48.0);
    expect_beam(c, event, {Metres(x), Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
    const TransmitEvent made = acquisition_of(c).events[event];
    const auto& wave = std::get<PointWaveEvent>(made.form);
    ASSERT_EQ(wave.elements.size(), 32U);
    EXPECT_EQ(wave.elements.front(), event);
    EXPECT_NEAR(wave.point.z.value, 25e-3, 1e-12);
    ASSERT_EQ(made.receivers.size(), 64U);
    // About the middle of those that fire, as far as the array goes.
    EXPECT_EQ(made.receivers.front(), std::min<std::size_t>(event < 16 ? 0 : event - 16, 64));
  }
}

TEST(ScanBeams, MayBeSteeredFromWhereTheyWalk) {
  SimulatorConfiguration c = source_of_beams(96, 5);
  c.transmit.aperture = 24;
  c.transmit.beams.origins = {Metres(-6e-3), Metres(6e-3)};
  c.transmit.angles = {10.0, 10.0};
  c.transmit.focus = Metres(std::numeric_limits<double>::infinity());
  const Direction direction{std::sin(10.0 * to_radians), 0.0, std::cos(10.0 * to_radians)};
  for (const std::size_t event : {0U, 2U, 4U}) {
    expect_beam(c, event, {Metres(-6e-3 + 3e-3 * static_cast<double>(event)), Metres(0.0), Metres(0.0)}, direction);
  }
}

TEST(ScanBeams, OfACurvilinearArrayLeaveItAlongItsNormals) {
  SimulatorConfiguration c = source_of_beams(128, 97);
  c.radius = Metres(40e-3);
  c.transmit.aperture = 32;
  c.transmit.focus = Metres(50e-3);
  for (const std::size_t event : {0U, 40U, 48U, 96U}) {
    const double turn = 0.3e-3 * (static_cast<double>(event) - 48.0) / 40e-3;
    expect_beam(c, event, {Metres(40e-3 * std::sin(turn)), Metres(0.0), Metres(40e-3 * (std::cos(turn) - 1.0))},
                {std::sin(turn), 0.0, std::cos(turn)});
  }
  for (const Element& element : acquisition_of(c).probe.elements) {
    EXPECT_NEAR(std::hypot(element.centre.x.value, element.centre.z.value + 40e-3), 40e-3, 1e-12);
    EXPECT_NEAR(element.normal.x * 40e-3, element.centre.x.value, 1e-12);
  }
  // The source stands where it says.
  EXPECT_EQ(placed_probe(c).elements, acquisition_of(c).probe.elements);
}

TEST(ScanBeams, OfAMatrixArrayHaveTwoAngles) {
  SimulatorConfiguration c = source_of_beams(12, 3);
  c.rows = 10;
  c.transmit.angles = {-20.0, 20.0};
  c.transmit.beams.angles_across = {-30.0, 30.0};
  c.transmit.beams.across = 2;
  c.transmit.focus = Metres(30e-3);
  ASSERT_EQ(acquisition_of(c).event_count(), 6U);
  for (std::size_t event = 0; event < 6; ++event) {
    const double a = (static_cast<double>(event % 3) * 20.0 - 20.0) * to_radians;
    const double b = (event < 3 ? -30.0 : 30.0) * to_radians;
    expect_beam(c, event, {}, {std::sin(a) * std::cos(b), std::sin(b), std::cos(a) * std::cos(b)});
  }
}

TEST(ScanBeams, MayBeListed) {
  SimulatorConfiguration c = source_of_beams(64, 1);
  c.transmit.events.reset();
  c.transmit.aperture = 16;
  c.transmit.repeats = 2;
  c.transmit.beams.list = {{Metres(-3e-3), 5.0, 0.0, Metres(20e-3)},
                           {Metres(3e-3), 0.0, 0.0, Metres(std::numeric_limits<double>::infinity())}};
  ASSERT_EQ(acquisition_of(c).event_count(), 4U);
  const Direction direction{std::sin(5.0 * to_radians), 0.0, std::cos(5.0 * to_radians)};
  for (const std::size_t event : {0U, 1U}) expect_beam(c, event, {Metres(-3e-3), Metres(0.0), Metres(0.0)}, direction);
  for (const std::size_t event : {2U, 3U}) expect_beam(c, event, {Metres(3e-3), Metres(0.0), Metres(0.0)}, {0.0, 0.0, 1.0});
}

TEST(ScanBeams, AndTissueAreReadFromAFile) {
  const SimulatorConfiguration c = simulated_source(parse_configuration(R"([material]
longitudinal_velocity = 1540
[simulator]
elements = 64
radius = 0.03
seed = 5
transmit = "beams"
repeats = 3
aperture = 16
receive_aperture = 32
beams = [[-0.002, 0, 0.03], [0.002, 5, 0, -0.04]]
scatterers = 1000
speckle_x = [-0.01, 0.01]
speckle_z = [0.01, 0.03]
speckle_rms = 0.2
cysts = [[0.0, 0.02, 0.003, -inf], [0.001, 0.002, 0.02, 0.003, 6]]
vessels = [[-0.01, 0.012, 0.01, 0.014, 0.001, 0.3, -6]]
disks = [[0.005, 0.025, 0.002, 1.5, 3]]
frame_rate = 40
pulse_repetition = 2000
)",
                                                                        "beams.toml"));
  EXPECT_EQ(c.radius, Metres(0.03));
  ASSERT_EQ(c.transmit.beams.list.size(), 2U);
  EXPECT_EQ(c.transmit.beams.list[1], (ScanBeam{Metres(0.002), 5.0, 0.0, Metres(-0.04)}));
  EXPECT_EQ(acquisition_of(c).event_count(), 6U);
  EXPECT_EQ(c.tissue.seed, 5U);
  EXPECT_EQ(c.tissue.speckle.scatterers, 1000U);
  EXPECT_EQ(c.tissue.speckle.rms, 0.2);
  ASSERT_EQ(c.tissue.cysts.size(), 2U);
  EXPECT_FALSE(c.tissue.cysts[0].ball);
  EXPECT_EQ(c.tissue.cysts[0].decibels, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(c.tissue.cysts[1].ball);
  EXPECT_EQ(c.tissue.cysts[1].centre, (Point{Metres(0.001), Metres(0.002), Metres(0.02)}));
  ASSERT_EQ(c.tissue.vessels.size(), 1U);
  EXPECT_EQ(c.tissue.vessels[0].last, (Point{Metres(0.01), Metres(0.0), Metres(0.014)}));
  EXPECT_EQ(c.tissue.vessels[0].peak, MetresPerSecond(0.3));
  ASSERT_EQ(c.tissue.disks.size(), 1U);
  EXPECT_EQ(c.tissue.disks[0].turns, 1.5);
  EXPECT_EQ(c.frame_rate, Hertz(40.0));
  EXPECT_EQ(c.pulse_repetition, Hertz(2000.0));
  // The demo's part is not there beside it.
  EXPECT_EQ(c.phantom.reflectors(), 0U);
  const SimulatorConfiguration plane =
      simulated_source(parse_configuration("[simulator]\ntransmit = \"beams\"\nfocus = inf\n", "plane.toml"));
  EXPECT_TRUE(std::holds_alternative<PlaneWaveEvent>(acquisition_of(plane).events.front().form));
}

TEST(ProbeRadius, MakesTheDatasArrayCurvilinear) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(64, Metres(1e-3), Metres(0.0), Hertz(5e6), Hertz(3e6));
  Material material;
  std::vector<std::string> notes;
  apply_overrides(parse_configuration("[probe]\npitch = 0.3e-3\nradius = 0.04\n", "arc.toml"), acquisition, material, notes);
  EXPECT_EQ(acquisition.probe.elements,
            make_curvilinear_probe(64, Metres(0.3e-3), Metres(0.04), Metres(0.0), Hertz(0.0), Hertz(0.0)).elements);
  EXPECT_THAT(notes, testing::Contains("arc.toml: [probe] radius = 40 mm replaces the array of the data"));
  const auto refused = [&](const std::string& keys) {
    return [&acquisition, &material, &notes, keys] {
      apply_overrides(parse_configuration("[probe]\n" + keys, "arc.toml"), acquisition, material, notes);
    };
  };
  EXPECT_THAT(refused("radius = 0.04\n"),
              testing::ThrowsMessage<InputError>(
                  "arc.toml: [probe] radius: found a radius without a pitch; expected [probe] pitch beside it"));
  EXPECT_THAT(
      refused("pitch = 1e-3\nradius = 0.02\n"),
      testing::ThrowsMessage<InputError>("arc.toml: [probe] radius: found 64 elements up to 90.2 degrees from the middle of "
                                         "the arc; expected up to 80 degrees"));
}

}  // namespace
}  // namespace echoform
