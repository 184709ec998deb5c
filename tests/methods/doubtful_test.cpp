// Values that are legal and cannot be meant.
#include "methods/doubtful.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "methods/registry.hpp"
#include "settings/reader.hpp"

namespace echoform {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> doubts(const std::string& text) {
  return doubtful_settings(parse_configuration(text, "scan.toml"));
}

TEST(Doubtful, NothingInTheDefaultsAndInWhatIsInspected) {
  EXPECT_THAT(doubts(""), IsEmpty());
  EXPECT_THAT(doubts("[material]\nlongitudinal_velocity = 6320\nshear_velocity = 3130\n[couplant]\nvelocity = 1480\n"
                     "[grid]\nx = [-0.02, 0.02]\nz = [0.0, 0.3]\n[probe]\npitch = 0.6e-3\nstand_off = 0.03\n"
                     "centre_frequency = 5e6\nbandwidth = 3e6\n[acquisition]\nsample_rate = 50e6\nstart_time = 20e-6\n"
                     "time_offset = 0.5e-6\n"),
              IsEmpty());
  // Optoacoustic and medical arrays at 50 MHz, soft tissue, a pixel alone.
  EXPECT_THAT(doubts("[material]\nlongitudinal_velocity = 1540\n[probe]\npitch = 15e-6\ncentre_frequency = 50e6\n"
                     "[acquisition]\nsample_rate = 250e6\n[grid]\nx = [0.001, 0.001]\npixels = [1, 16]\n"),
              IsEmpty());
}

TEST(Doubtful, VelocitiesInAnotherUnit) {
  EXPECT_THAT(doubts("[material]\nlongitudinal_velocity = 6.32\n"),
              ElementsAre("scan.toml: [material] longitudinal_velocity = 6.32 m/s: slower than sound in air; km/s or mm/us, for "
                          "6320 m/s?"));
  EXPECT_THAT(
      doubts("[material]\nshear_velocity = 13130\n"),
      ElementsAre("scan.toml: [material] shear_velocity = 13130 m/s: faster than sound in any solid; mm/s, or a digit too "
                  "many?"));
  EXPECT_THAT(doubts("[couplant]\nvelocity = 148\n"),
              ElementsAre("scan.toml: [couplant] velocity = 148 m/s: slower than sound in air"));
  // The bounds themselves will do.
  EXPECT_THAT(doubts("[material]\nlongitudinal_velocity = 12000\nshear_velocity = 300\n"), IsEmpty());
}

TEST(Doubtful, ShearWavesThatOutrunLongitudinalOnes) {
  EXPECT_THAT(
      doubts("[material]\nlongitudinal_velocity = 3130\nshear_velocity = 6320\n"),
      ElementsAre("scan.toml: [material] shear_velocity: shear waves at 6320 m/s are not slower than longitudinal ones at "
                  "3130 m/s: the other way round?"));
  EXPECT_THAT(doubts("[simulator]\nlongitudinal_velocity = 3130\nshear_velocity = 3130\n"), ElementsAre(HasSubstr("not slower")));
}

TEST(Doubtful, LengthsAThousandTimesOff) {
  EXPECT_THAT(doubts("[grid]\nx = [-5, 5]\nz = [1, 9.5]\n"),
              ElementsAre("scan.toml: [grid] x = [-5, 5] m: mm, for [-0.005, 0.005] m?",
                          "scan.toml: [grid] z = [1, 9.5] m: mm, for [0.001, 0.0095] m?"));
  EXPECT_THAT(
      doubts("[grid]\nx = [-5e-6, 5e-6]\n"),
      ElementsAre("scan.toml: [grid] x = [-5e-06, 5e-06] m: 10 um in all; a thousand times too small, for [-0.005, 0.005] m?"));
  EXPECT_THAT(
      doubts("[probe]\npitch = 0.6\nelement_width = 0.5\nstand_off = 9\n"),
      ElementsAre("scan.toml: [probe] pitch = 0.6 m: mm, for 0.0006 m?", "scan.toml: [probe] stand_off = 9 m: mm, for 0.009 m?",
                  "scan.toml: [probe] element_width = 0.5 m: mm, for 0.0005 m?"));
  EXPECT_THAT(doubts("[probe]\npitch = 2e-6\n"),
              ElementsAre("scan.toml: [probe] pitch = 2e-06 m: a thousand times too small, for 0.002 m?"));
}

TEST(Doubtful, FrequenciesAndTimesInAnotherUnit) {
  EXPECT_THAT(doubts("[probe]\ncentre_frequency = 5\n[acquisition]\nsample_rate = 50000\ntime_offset = 0.5\n"),
              ElementsAre("scan.toml: [probe] centre_frequency = 5 Hz: MHz, for 5e+06 Hz?",
                          "scan.toml: [acquisition] sample_rate = 50000 Hz: kHz, for 5e+07 Hz?",
                          "scan.toml: [acquisition] time_offset = 0.5 s: us, for 5e-07 s?"));
}

TEST(Doubtful, FiltersInAnotherUnit) {
  EXPECT_THAT(doubts("[filter]\nband = [0, 8e6]\nskirt = 1e6\nnotch = [30e3, 2e3]\n"), IsEmpty());
  EXPECT_THAT(doubts("[filter]\nband = [3.5, 6.5]\nskirt = 1.5\nnotch = [6, 1.5]\n"),
              ElementsAre("scan.toml: [filter] band = [3.5, 6.5] Hz: MHz, for [3.5e+06, 6.5e+06] Hz?",
                          "scan.toml: [filter] skirt = 1.5 Hz: MHz, for 1.5e+06 Hz?",
                          "scan.toml: [filter] notch = [6, 1.5] Hz: MHz, for [6e+06, 1.5e+06] Hz?"));
  EXPECT_THAT(doubts("[filter]\nband = [0, 6500]\nnotch = [6e6, 1]\n"),
              ElementsAre("scan.toml: [filter] band = [0, 6500] Hz: kHz, for [0, 6.5e+06] Hz?",
                          "scan.toml: [filter] notch = [6e+06, 1] Hz: MHz, for [6e+06, 1e+06] Hz?"));
}

TEST(Doubtful, UpperEdgesAndMutesInAnotherUnit) {
  EXPECT_THAT(doubts("[filter]\nupper_skirt = 1.5\nmute = 0.5\n"),
              ElementsAre("scan.toml: [filter] upper_skirt = 1.5 Hz: MHz, for 1.5e+06 Hz?",
                          "scan.toml: [filter] mute = 0.5 s: us, for 5e-07 s?"));
}

TEST(Doubtful, SamplingBelowTwiceTheBand) {
  const std::string probe = "[probe]\ncentre_frequency = 5e6\nbandwidth = 3e6\n";
  EXPECT_THAT(doubts(probe + "[acquisition]\nsample_rate = 13e6\n"), IsEmpty());
  EXPECT_THAT(
      doubts(probe + "[acquisition]\nsample_rate = 12.9e6\n"),
      ElementsAre("scan.toml: [acquisition] sample_rate: 12.9 MHz is below twice the 6.5 MHz to which the probe's band goes: "
                  "echoes alias"));
}

Acquisition of_data(double pitch, double rate) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(16, Metres(pitch), Metres(0.0), Hertz(5e6), Hertz(3e6));
  acquisition.samples = 256;
  acquisition.sample_rate = Hertz(rate);
  return acquisition;
}

TEST(Doubtful, DataAreLookedAtWhereTheConfigurationDoesNotReplaceThem) {
  const Material steel{MetresPerSecond(5900.0), MetresPerSecond(3230.0)};
  const Configuration silent;
  EXPECT_THAT(doubtful_data(silent, of_data(0.6e-3, 50e6), steel), IsEmpty());
  EXPECT_THAT(doubtful_data(silent, of_data(0.6, 50e6), {MetresPerSecond(5.9), MetresPerSecond(0.0)}),
              ElementsAre("data: longitudinal velocity = 5.9 m/s: slower than sound in air; km/s or mm/us, for 5900 m/s?",
                          "data: distance of neighbouring elements = 0.6 m: mm, for 0.0006 m?"));
  EXPECT_THAT(doubtful_data(silent, of_data(0.6e-3, 10e6), steel), ElementsAre(HasSubstr("sample rate: 10 MHz is below twice")));
  Configuration replaced;
  replaced.material.longitudinal_velocity = MetresPerSecond(5.9);
  EXPECT_THAT(doubtful_data(replaced, of_data(0.6e-3, 50e6), {MetresPerSecond(5.9), MetresPerSecond(0.0)}), IsEmpty())
      << "doubtful_settings() says it";
}

TEST(Doubtful, PitchIsThatOfAllElementsAndNotOfTheFirstTwo) {
  const Material steel{MetresPerSecond(5900.0), MetresPerSecond(3230.0)};
  // 64 elements 1.9 mm apart, whose first and second stand at the ends.
  Acquisition random = of_data(1.9e-3, 50e6);
  random.probe = make_linear_probe(64, Metres(1.9e-3), Metres(0.0), Hertz(5e6), Hertz(3e6));
  std::swap(random.probe.elements[1], random.probe.elements[63]);
  EXPECT_THAT(doubtful_data({}, random, steel), IsEmpty());
  // A ring of 40 mm whose detectors are listed side by side: the first two face each other.
  Acquisition ring = of_data(1e-3, 50e6);
  for (std::size_t k = 0; k < ring.probe.elements.size(); ++k) {
    const double angle = 2.0 * std::numbers::pi / 16.0 * static_cast<double>(k / 2 + k % 2 * 8);
    ring.probe.elements[k].centre = {Metres(40e-3 * std::cos(angle)), Metres(), Metres(40e-3 * std::sin(angle))};
    ring.probe.elements[k].normal = {-std::cos(angle), 0.0, -std::sin(angle)};
  }
  EXPECT_THAT(doubtful_data({}, ring, steel), IsEmpty());
  // The other way round: millimetres stay doubtful where the first two are at one place.
  Acquisition millimetres = of_data(0.6, 50e6);
  millimetres.probe.elements[1].centre = millimetres.probe.elements[0].centre;
  EXPECT_THAT(doubtful_data({}, millimetres, steel),
              ElementsAre("data: distance of neighbouring elements = 0.6 m: mm, for 0.0006 m?"));
}

TEST(Doubtful, SetupsCarryThem) {
  const Configuration configuration =
      parse_configuration("[material]\nlongitudinal_velocity = 6.32\n[grid]\npixels = [8, 8]\n", "scan.toml");
  const auto setup = resolve_imaging({.configuration = configuration, .acquisition = of_data(0.6e-3, 12e6)});
  EXPECT_THAT(setup->warnings, Contains(HasSubstr("for 6320 m/s?")));
  EXPECT_THAT(setup->warnings, Contains(HasSubstr("12 MHz is below twice")));
}

TEST(Doubtful, EventsInUnitsThatNobodyMeans) {
  const auto of = [](TransmitForm form) {
    Acquisition acquisition;
    acquisition.probe = make_linear_probe(8, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
    acquisition.sample_rate = Hertz(50e6);
    acquisition.events = {{PlaneWaveEvent{}, {}}, {std::move(form), {}}};
    return doubtful_data({}, acquisition, {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}, {});
  };
  const MetresPerSecond velocity(6320.0);
  EXPECT_THAT(of(PointWaveEvent{{Metres(-7.0), Metres(0.0), Metres(-8e-3)}, velocity, std::nullopt}),
              testing::ElementsAre("data: transmit event 1, x of the point = -7 m: mm, for -0.007 m?"));
  EXPECT_THAT(
      of(PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(-8e-3)}, MetresPerSecond(6.32), std::nullopt}),
      testing::ElementsAre(testing::HasSubstr("data: transmit event 1, velocity = 6.32 m/s: slower than sound in air; km/s")));
  EXPECT_THAT(of(LawEvent{{0, 1}, {0.0F, 0.5F}}),
              testing::ElementsAre("data: transmit event 1, delay = 0.5 s: us, for 5e-07 s?"));
  EXPECT_THAT(of(PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(-8e-3)}, velocity, Seconds(1e-6)}), testing::IsEmpty());
}

}  // namespace
}  // namespace echoform
