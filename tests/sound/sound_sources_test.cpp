// Vessels, spectra, and what is refused.
#include "simulators/sound_sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "methods/doubtful.hpp"
#include "methods/registry.hpp"
#include "methods/tomography/simulated_scene.hpp"
#include "settings/reader.hpp"
#include "simulators/haemoglobin.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/sound/scene.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Point at(double x, double y, double z) {
  return {Metres(x), Metres(y), Metres(z)};
}

TEST(SoundSources, HaveTheInitialPressureOfTheirBalls) {
  SoundSources sources;
  sources.balls = {{"one", at(1e-3, 0.0, 0.0), Metres(2e-3), 3.0, {}}, {"other", at(0.0, 2e-3, 0.0), Metres(1e-3), -1.0, {}}};
  EXPECT_EQ(initial_pressure(sources, at(2.9e-3, 0.0, 0.0)), 3.0);
  EXPECT_EQ(initial_pressure(sources, at(3.1e-3, 0.0, 0.0)), 0.0);
  EXPECT_EQ(initial_pressure(sources, at(0.0, 1.2e-3, 0.0)), 2.0) << "where they overlap";
  sources.blur = Metres(0.1e-3);
  EXPECT_NEAR(initial_pressure(sources, at(1e-3, 0.0, 0.0)), 3.0, 1e-12);
  // Half on the surface, less what of a ball is nearer than of a plane: s / R of sqrt(2 / pi) / 2.
  EXPECT_NEAR(initial_pressure(sources, at(3e-3, 0.0, 0.0)), 1.5 - 3.0 * 42.466e-6 / 2e-3 / std::sqrt(2.0 * std::numbers::pi),
              1e-6);
}

TEST(SoundSources, OfVesselsAreAsStrongAsStatedInTheMeanOfTheirAxis) {
  SoundSources sources;
  sources.vessels = {{"vessel 0", at(-5e-3, 1e-3, 0.0), at(5e-3, 1e-3, 0.0), Metres(1e-3), 2.0, Metres(0.3e-3)},
                     {"vessel 1", at(5e-3, 1e-3, 0.0), at(5e-3, 1e-3, 8e-3), Metres(0.5e-3), 1.0, {}}};
  const std::vector<PulsedBall> balls = pulsed_balls(sources);
  EXPECT_EQ(balls.size(), 34U + 32U);
  EXPECT_NEAR(balls[0].centre.x.value, -5e-3 + 5e-3 / 34.0, 1e-15) << "in the middle of its part";
  double mean = 0.0;
  constexpr int places = 6000;
  for (int k = 0; k < places; ++k) {
    mean += initial_pressure(balls, sources.blur, at(-3e-3 + 6e-3 * (k + 0.5) / places, 1e-3, 0.0)) / places;
  }
  // Over 20.4 parts, each of which has the mean exactly.
  EXPECT_NEAR(mean, 2.0, 0.01);
}

TEST(SoundSources, OfBloodTakeUpLightByTheirSaturation) {
  SoundSources sources;
  sources.balls = {{"artery", at(0.0, 0.0, 0.0), Metres(1e-3), 5.0, {}}, {"vein", at(4e-3, 0.0, 0.0), Metres(1e-3), 5.0, {}}};
  sources.wavelengths = {Metres(760e-9), Metres(800e-9), Metres(825e-9)};
  sources.ball_saturations = {1.0, 0.7};
  validate(sources, "[simulator]");
  const std::vector<PulsedBall> balls = pulsed_balls(sources);
  EXPECT_NEAR(balls[0].amplitudes[0], 5.0 * 586.0 / 816.0, 1e-12);
  EXPECT_NEAR(balls[0].amplitudes[1], 5.0, 1e-12);
  EXPECT_NEAR(balls[0].amplitudes[2], 5.0 * 0.5 * (816.0 + 1058.0) / 816.0, 1e-12) << "between lines of the table";
  EXPECT_NEAR(balls[1].amplitudes[0], 5.0 * (0.7 * 586.0 + 0.3 * 1549.0) / 816.0, 1e-12);
  EXPECT_NEAR(balls[1].amplitudes[1], 5.0 * (0.7 * 816.0 + 0.3 * 762.0) / 816.0, 1e-12);
  EXPECT_NEAR(initial_pressure(sources, at(4e-3, 0.0, 0.0), 1), balls[1].amplitudes[1], 1e-12);

  sources.pulse_energies = {0.02, 0.01, 0.03};
  const std::vector<PulsedBall> scaled = pulsed_balls(sources);
  EXPECT_NEAR(scaled[1].amplitudes[2] / balls[1].amplitudes[2], 1.5, 1e-12);
  EXPECT_THAT(pulses_of(sources), ElementsAre(PassiveEvent{Metres(760e-9), 0.02}, PassiveEvent{Metres(800e-9), 0.01},
                                              PassiveEvent{Metres(825e-9), 0.03}));
}

TEST(SoundSources, TakeAnotherTableOfHaemoglobin) {
  const Scratch scratch;
  const auto file = scratch / "blood.csv";
  std::ofstream(file) << "nm,HbO2,Hb\n600, 100, 500\n1000, 300, 100\n";
  const HaemoglobinSpectra spectra = read_haemoglobin(file.string(), "key");
  // 200 at 800 nm.
  EXPECT_NEAR(blood_absorption(spectra, 0.25, Metres(700e-9), "place"), (0.25 * 150.0 + 0.75 * 400.0) / 200.0, 1e-12);
  EXPECT_EQ(input_error([&] { static_cast<void>(blood_absorption(spectra, 1.0, Metres(1100e-9), "place")); }),
            "place: found 1.1e-06 m; expected 6e-07 to 1e-06 m, where the absorption of blood is known");
  std::ofstream(file) << "800, 1, 1\n700, 1, 1\n";
  EXPECT_THAT(input_error([&] { static_cast<void>(read_haemoglobin(file.string(), "key")); }),
              HasSubstr("found 700 nm; expected wavelengths above 0 that grow from line to line"));
  std::ofstream(file) << "800, 1, -1\n";
  EXPECT_THAT(input_error([&] { static_cast<void>(read_haemoglobin(file.string(), "key")); }),
              HasSubstr("found -1 at 800 nm; expected absorption of at least 0"));
  std::ofstream(file) << "800, 1, 1\n";
  EXPECT_THAT(input_error([&] { static_cast<void>(read_haemoglobin(file.string(), "key")); }),
              HasSubstr("found 1 wavelengths; expected at least 2"));
}

struct BadSource {
  std::string name;
  std::function<void(SimulatorConfiguration&)> spoil;
  std::string message;
};

void PrintTo(const BadSource& bad, std::ostream* out) {
  *out << bad.name;
}

class BadSound : public testing::TestWithParam<BadSource> {};

TEST_P(BadSound, IsRefusedInOneLine) {
  SimulatorConfiguration c = small_source();
  GetParam().spoil(c);
  EXPECT_THAT([&] { validate(c, "scan.toml: [simulator]"); }, ThrowsMessage<InputError>("scan.toml: " + GetParam().message));
  EXPECT_THAT([&] { FmcSimulator simulator(c); }, testing::Throws<InputError>());
}

SoundSources& sources_of(SimulatorConfiguration& c) {
  return c.sound->sources;
}

const BadSource bad_sources[] = {
    {"NoBalls", [](auto& c) { sources_of(c).balls.clear(); },
     "[simulator] balls: found none; expected balls or blood_vessels in which light makes sound"},
    {"NoRadius", [](auto& c) { sources_of(c).balls[0].radius = Metres(0.0); },
     "[simulator] balls, ball 0: found a radius of 0 m; expected more than 0, up to 1 m"},
    {"NegativeRadius", [](auto& c) { sources_of(c).balls[0].radius = Metres(-1e-3); },
     "[simulator] balls, ball 0: found a radius of -0.001 m; expected more than 0, up to 1 m"},
    {"NowhereAtAll", [](auto& c) { sources_of(c).balls[0].centre.y = Metres(std::numeric_limits<double>::quiet_NaN()); },
     "[simulator] balls, ball 0: found nan m; expected places within 10 m"},
    {"HalfATurn",
     [](auto& c) {
       sources_of(c).balls[0].motion = {MotionKind::circular, {Metres(1e-3), Metres(0.0), Metres(1e-3)}, 0, 0.0};
     },
     "[simulator] balls, ball 0: found 0 turns; expected 1 to 1000 turns a cycle"},
    {"AroundADetector", [](auto& c) { sources_of(c).balls[0].centre = at(20e-3, 0.0, 0.9e-3); },
     "[simulator] ball 0: found detector 2 within the ball and its blur; expected balls that hold no part of a detector"},
    {"AroundADetectorOnItsWay",
     [](auto& c) {
       sources_of(c).balls[0].motion = {MotionKind::circular, {Metres(18e-3), Metres(0.0), Metres(18e-3)}, 1, 0.0};
     },
     "[simulator] ball 0: found detector 2 within the ball and its blur; expected balls that hold no part of a detector"},
    {"AroundAPartOfADetector",
     [](auto& c) {
       c.sound->detectors.element_length = Metres(30e-3);
       sources_of(c).balls[0].centre = at(0.0, 14e-3, 19e-3);
     },
     "[simulator] ball 0: found detector 0 within the ball and its blur; expected balls that hold no part of a detector"},
    {"AfterTheRecord", [](auto& c) { c.samples = 100; },
     "[simulator] ball 0: found sound that comes after 9.986 to 16.7 us; expected sound within the record, 0 to 2.475 us"},
    {"BeforeTheRecord", [](auto& c) { c.start_time = Seconds(50e-6); },
     "[simulator] ball 0: found sound that comes after 9.986 to 16.7 us; expected sound within the record, 50 to 72.47 us"},
    {"AVesselOfNoLength",
     [](auto& c) {
       sources_of(c).vessels = {{"vessel 0", at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.0), Metres(1e-3), 1.0, {}}};
     },
     "[simulator] blood_vessels, vessel 0: found both ends at one place; expected two places"},
    {"AVesselOfFarTooManyBalls",
     [](auto& c) {
       sources_of(c).vessels = {{"vessel 0", at(0.0, 0.0, 0.0), at(1e-3, 0.0, 0.0), Metres(1e-3), 1.0, Metres(1e-9)}};
     },
     "[simulator] blood_vessels: found 1e+06 balls in all; expected at most 10000"},
    {"EnergiesForOtherWavelengths",
     [](auto& c) {
       sources_of(c).wavelengths = {Metres(700e-9), Metres(800e-9), Metres(900e-9)};
       sources_of(c).pulse_energies = {0.01, 0.02};
     },
     "[simulator] pulse_energies: found 2 for 3 wavelengths; expected one for each, or one for all"},
    {"FactorsForOtherWavelengths",
     [](auto& c) {
       sources_of(c).ball_spectra = {{1.0, 2.0}};
     },
     "[simulator] ball_spectra: found a row of 2 factors; expected 1, one a wavelength"},
    {"FactorsForOtherBalls",
     [](auto& c) {
       sources_of(c).ball_spectra = {{1.0}, {2.0}};
     },
     "[simulator] ball_spectra: found 2 rows for 1 of them; expected a row for each, or one for all"},
    {"BloodInUnknownLight", [](auto& c) { sources_of(c).ball_saturations = {0.9}; },
     "[simulator] wavelengths: found none, and the saturation of blood; expected at which wavelengths light comes"},
    {"BloodBeyondTheTable",
     [](auto& c) {
       sources_of(c).ball_saturations = {0.9};
       sources_of(c).wavelengths = {Metres(1064e-9)};
     },
     "[simulator] wavelengths: found 1.064e-06 m; expected 7e-07 to 9e-07 m, where the absorption of blood is known"},
    {"MoreThanSaturated",
     [](auto& c) {
       sources_of(c).ball_saturations = {98.0};
       sources_of(c).wavelengths = {Metres(800e-9)};
     },
     "[simulator] ball_saturations: found 98; expected 0 to 1"},
    {"AProbeBesideTheDetectors", [](auto& c) { c.elements = 64; },
     "[simulator] elements: found a value beside sound of light; expected no such key: [detectors] says what hears it"},
    {"PlaneWaves", [](auto& c) { c.transmit.kind = TransmitKind::plane; },
     "[simulator] transmit: found a value beside sound of light; expected no such key: nobody transmits"},
    {"HalfAMatrix", [](auto& c) { c.matrix = MatrixKind::half; },
     "[simulator] events: found events and a half matrix; expected one of both"},
    {"Tissue", [](auto& c) { c.tissue.speckle.scatterers = 10; },
     "[simulator] scatterers: found a value beside sound of light; expected no such key: nothing echoes"},
    {"PositionsOfAnArcTwice",
     [](auto& c) {
       c.sound->detectors.kind = DetectorKind::arc;
       c.positions = {Pose{}, Pose{at(0.0, 1e-3, 0.0)}};
     },
     "[acquisition] positions: found 2 beside the azimuths of an arc; expected one of both"},
    {"NoDetectors", [](auto& c) { c.sound->detectors.kind = DetectorKind::none; },
     "[detectors] kind: found none; expected \"ring\", \"arc\", \"sphere\", \"hemisphere\", \"plane\" or \"line\""},
    {"DeadOnesThatAreNotThere", [](auto& c) { c.dead_elements = {8}; }, "[simulator] dead_elements: found 8; expected 0 to 7"},
    {"IntegersWithoutAConverter", [](auto& c) { c.encoding = SampleEncoding::int16; },
     "[simulator] quantised: found false with an integer encoding; expected true, or encoding float32"},
    {"NoSound", [](auto& c) { c.material.longitudinal_velocity = MetresPerSecond(0.0); },
     "[simulator] longitudinal_velocity: found 0; expected 100 to 20000 m/s"},
};

INSTANTIATE_TEST_SUITE_P(All, BadSound, testing::ValuesIn(bad_sources), [](const auto& bad) { return bad.param.name; });

constexpr std::string_view whole_file = R"(
[material]
longitudinal_velocity = 1540.0
[detectors]
kind = "arc"
count = 5
radius = 0.065
angles = [20, 160]
positions = 4
element_width = 0.002
element_length = 0.001
[simulator]
samples = 3000
sample_rate = 40e6
encoding = "float32"
balls = [[0.001, 0.002, 0.003, 0.004, 2.0], [0, 0, 0, 0.001, 1.0, 0.005, 2, 0.25]]
blood_vessels = [[-0.01, 0, 0, 0.01, 0, 0, 0.001, 1.0], [0.01, 0, 0, 0.01, 0, 0.01, 0.001, 1.0, 0.0002]]
blur = 0.0005
wavelengths = [700e-9, 800e-9]
pulse_energies = [0.02]
ball_spectra = [[1.0, 0.5], [1.0, 2.0]]
vessel_saturations = [0.9]
)";

TEST(SoundKeys, DescribeTheWholeSource) {
  const SimulatorConfiguration c = simulated_sound(parse_configuration(whole_file, "scan.toml"));
  EXPECT_EQ(c.material.longitudinal_velocity.value, 1540.0);
  ASSERT_TRUE(c.sound.has_value());
  const SoundSources& sources = c.sound->sources;
  ASSERT_EQ(sources.balls.size(), 2U);
  EXPECT_EQ(sources.balls[0].centre, at(0.001, 0.002, 0.003));
  EXPECT_EQ(sources.balls[0].radius.value, 0.004);
  EXPECT_EQ(sources.balls[0].motion.kind, MotionKind::still);
  EXPECT_EQ(sources.balls[1].name, "ball 1");
  EXPECT_EQ(sources.balls[1].motion.kind, MotionKind::circular);
  EXPECT_EQ(sources.balls[1].motion.extent, at(0.005, 0.0, 0.005));
  EXPECT_EQ(sources.balls[1].motion.turns, 2U);
  EXPECT_EQ(sources.balls[1].motion.offset, 0.25);
  ASSERT_EQ(sources.vessels.size(), 2U);
  EXPECT_EQ(sources.vessels[1].last, at(0.01, 0.0, 0.01));
  EXPECT_EQ(sources.vessels[1].spacing, Metres(0.0002));
  EXPECT_EQ(sources.blur.value, 0.0005);
  EXPECT_EQ(sources.ball_spectra[1][1], 2.0);
  EXPECT_THAT(sources.vessel_saturations, ElementsAre(0.9));
  const Acquisition acquisition = acquisition_of(c);
  EXPECT_EQ(acquisition.elements(), 5U);
  EXPECT_EQ(acquisition.event_count(), 8U);
  EXPECT_EQ(acquisition.probe.elements[0].width.value, 0.002);
  EXPECT_EQ(std::get<PassiveEvent>(acquisition.events[1].form), (PassiveEvent{Metres(800e-9), 0.02}));
}

std::string refusal(std::string_view from, std::string_view to) {
  std::string text(whole_file);
  text.replace(text.find(from), from.size(), to);
  return input_error([&] { static_cast<void>(simulated_sound(parse_configuration(text, "scan.toml"))); });
}

TEST(SoundKeys, AreRefusedByNameWhereTheyAreWrong) {
  EXPECT_THAT(refusal("blur = ", "blurr = "), HasSubstr("found the unknown key blurr in [simulator]"));
  EXPECT_THAT(refusal("blur = ", "blurr = "), HasSubstr("the nearest is blur in [simulator]"));
  EXPECT_THAT(refusal("kind = \"arc\"", "kind = \"disc\""),
              HasSubstr("[detectors] kind: found \"disc\"; expected one of none, ring"));
  EXPECT_THAT(refusal("positions = 4", "positions = 4\nrows = 2"),
              HasSubstr("scan.toml: [detectors] rows: found a value; expected no such key but of a sphere"));
  EXPECT_THAT(refusal("longitudinal_velocity = 1540.0", ""),
              HasSubstr("[material] longitudinal_velocity: found no value; expected the speed of sound, in m/s"));
  EXPECT_THAT(refusal("0.005, 2, 0.25]", "0.005, 2.5, 0.25]"), HasSubstr("[simulator] balls, ball 1: found 0 turns"));
  EXPECT_THAT(
      refusal("samples = 3000", "samples = 3000\npoints = [[0, 0.01, 1]]"),
      HasSubstr(
          "[simulator] points: found a value for a source of sound that light makes; expected no such key: nothing echoes"));
  EXPECT_THAT(refusal("[simulator]", "[couplant]\nvelocity = 1480\n[simulator]"), HasSubstr("[couplant] velocity"));
  EXPECT_THAT(refusal("[simulator]", "[probe]\nx = 0.01\n[simulator]"), HasSubstr("[probe] x"));
  EXPECT_THAT(refusal("blur = 0.0005", "haemoglobin = \"not-there.csv\""), HasSubstr("[simulator] haemoglobin"));
}

TEST(SoundKeys, AreRefusedOfMethodsWhoseSourceTransmits) {
  const auto of_method = [](std::string_view keys) {
    return input_error([&] { static_cast<void>(simulated_source(parse_configuration(keys, "scan.toml"))); });
  };
  EXPECT_EQ(
      of_method("[simulator]\nballs = [[0, 0, 0.01, 0.001, 1]]\n"),
      "scan.toml: [simulator] balls: found a value with the method tfm; expected a method of optoacoustics, or no such key");
  EXPECT_EQ(of_method("[detectors]\nkind = \"ring\"\n"),
            "scan.toml: [detectors] kind: found a value with the method tfm; expected a method of optoacoustics, or no such key");
}

TEST(SoundKeys, AreDoubtedWhereSoundIsTooShortForItsSampling) {
  const auto doubts = [](std::string_view rate) {
    return doubtful_settings(
        parse_configuration("[material]\nlongitudinal_velocity = 1500\n[simulator]\nsample_rate = " + std::string(rate) +
                                "\nballs = [[0, 0, 0, 0.003, 1], [0, 0, 0, 0.0001, 1]]\n",
                            "scan.toml"));
  };
  EXPECT_THAT(doubts("40e6"), testing::IsEmpty());
  EXPECT_THAT(doubts("20e6"),
              ElementsAre("scan.toml: [simulator] balls, ball 1: its sound lasts 2.7 samples: a higher sample_rate, "
                          "or a larger radius or blur?"));
}

}  // namespace
}  // namespace echoform::test
