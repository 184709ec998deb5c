// Events of several elements: every A-scan against a double-precision sum of pulses at arrival times that are worked out here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "methods/registry.hpp"
#include "settings/reader.hpp"
#include "simulators/fmc_simulator.hpp"
#include "tests/simulators/reference.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

constexpr double degree = std::numbers::pi / 180.0;

/// Twelve point elements without noise or converter, and two still scatterers that echo with the same strength everywhere.
SimulatorConfiguration plain_source() {
  SimulatorConfiguration c;
  c.elements = 12;
  c.pitch = Metres(0.6e-3);
  c.element_width = Metres(0.0);
  c.samples = 700;
  c.start_time = Seconds(-1e-6);
  c.time_offset = Seconds(0.13e-6);
  c.encoding = SampleEncoding::float32;
  c.quantised = false;
  c.noise_rms = 0.0;
  c.spreading = Spreading::none;
  c.directivity = false;
  c.phantom = {};
  c.phantom.points = {{"one", {Metres(1.3e-3), Metres(0.0), Metres(14e-3)}, 1.0, {}},
                      {"other", {Metres(-4.1e-3), Metres(0.0), Metres(22e-3)}, -0.6, {}}};
  return c;
}

double element_x(const SimulatorConfiguration& c, std::size_t element) {
  return c.pitch.value * (static_cast<double>(element) - 0.5 * static_cast<double>(c.elements - 1));
}

std::vector<std::byte> frame_of(const SimulatorConfiguration& c, std::uint64_t frame = 0) {
  const FmcSimulator simulator(c);
  std::vector<std::byte> bytes(simulator.acquisition().frame_bytes());
  simulator.synthesise(frame, bytes);
  return bytes;
}

/// Row `row` of a frame, in the units of its samples.
test::Signal row_of(const SimulatorConfiguration& c, const std::vector<std::byte>& frame, std::size_t row) {
  const Acquisition a = acquisition_of(c);
  return test::decode(std::span(frame).subspan(row * a.bytes_per_a_scan(), a.bytes_per_a_scan()), a.encoding, a.samples);
}

/// One element of an event as the tests state it.
struct Shot {
  std::size_t element = 0;
  double delay = 0.0;
  double weight = 1.0;
};

/// What `receiver` hears of the scatterers of plain_source().
test::Signal heard(const SimulatorConfiguration& c, const std::vector<Shot>& shots, std::size_t receiver) {
  test::Signal signal(c.samples, 0.0);
  const double f = c.centre_frequency.value;
  const double s = std::sqrt(2.0 * std::numbers::ln2) / (std::numbers::pi * c.fractional_bandwidth * f);
  for (const Shot& shot : shots) {
    for (const PointScatterer& point : c.phantom.points) {
      const double x = point.centre.x.value;
      const double z = point.centre.z.value;
      const double path = std::hypot(x - element_x(c, shot.element), z) + std::hypot(x - element_x(c, receiver), z);
      const double arrival = shot.delay + path / c.material.longitudinal_velocity.value;
      for (std::size_t n = 0; n < signal.size(); ++n) {
        const double t = c.start_time.value + static_cast<double>(n) / c.sample_rate.value - c.time_offset.value - arrival;
        signal[n] +=
            shot.weight * point.reflectivity * std::exp(-0.5 * t * t / (s * s)) * std::cos(2.0 * std::numbers::pi * f * t);
      }
    }
  }
  return signal;
}

/// Every row of frame 0 is what is heard of `shots_of(event)`. A pulse of the source is right to 2e-7 of its amplitude (1e-7 for
/// the interpolation, as much for single precision), and so many are added up in single precision.
void expect_heard(const SimulatorConfiguration& c, const std::function<std::vector<Shot>(std::size_t event)>& shots_of) {
  const auto frame = frame_of(c);
  std::size_t row = 0;
  for (const EventReceiver pair : FrameLayout(acquisition_of(c)).pairs()) {
    const std::vector<Shot> shots = shots_of(pair.event);
    const auto expected = heard(c, shots, pair.receiver);
    const auto found = row_of(c, frame, row++);
    double off = 0.0;
    for (std::size_t n = 0; n < found.size(); ++n) off = std::max(off, std::abs(found[n] - expected[n]));
    EXPECT_LT(off, 4e-7 * 1.6 * static_cast<double>(shots.size())) << "event " << pair.event << ", receiver " << pair.receiver;
  }
  EXPECT_EQ(row, acquisition_of(c).a_scans());
}

/// Delays such that the earliest of them is 0.
std::vector<Shot> from_zero(std::vector<Shot> shots) {
  const double earliest =
      std::min_element(shots.begin(), shots.end(), [](const Shot& a, const Shot& b) { return a.delay < b.delay; })->delay;
  for (Shot& shot : shots) shot.delay -= earliest;
  return shots;
}

TEST(Transmits, PlaneWavesAreTheSumOfTheirElements) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::plane;
  c.transmit.events = 5;
  c.transmit.angles = {-24.0, 12.0};
  expect_heard(c, [&](std::size_t event) {
    const double angle = (-24.0 + 9.0 * static_cast<double>(event)) * degree;
    std::vector<Shot> shots;
    for (std::size_t e = 0; e < c.elements; ++e) shots.push_back({e, element_x(c, e) * std::sin(angle) / 6320.0});
    return from_zero(shots);
  });
}

/// When the elements of an arc of `radius` fire for a plane wave, the earliest at 0.
std::vector<Shot> arc_shots(const SimulatorConfiguration& c, double angle, std::size_t first, std::size_t count) {
  std::vector<Shot> shots;
  for (std::size_t k = first; k < first + count; ++k) {
    const double turn = element_x(c, k) / c.radius.value;
    const double x = c.radius.value * std::sin(turn);
    const double z = c.radius.value * (std::cos(turn) - 1.0);
    shots.push_back({k, (x * std::sin(angle) + z * std::cos(angle)) / c.material.longitudinal_velocity.value, 1.0});
  }
  const double earliest = std::ranges::min(shots, {}, &Shot::delay).delay;
  for (Shot& shot : shots) shot.delay -= earliest;
  return shots;
}

void expect_firings(const std::vector<Firing>& found, const std::vector<Shot>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].element, expected[k].element);
    EXPECT_NEAR(found[k].delay, expected[k].delay, 1e-16);
  }
}

TEST(Transmits, PlaneWavesOfAnArcAreDelayedByHowFarItsElementsLieBack) {
  SimulatorConfiguration c = plain_source();
  c.radius = Metres(15e-3);
  c.transmit.kind = TransmitKind::plane;
  c.transmit.events = 3;
  c.transmit.angles = std::array{-20.0, 20.0};
  for (std::size_t event = 0; event < 3; ++event)
    expect_firings(firings_of(acquisition_of(c), event),
                   arc_shots(c, (20.0 * static_cast<double>(event) - 20.0) * degree, 0, 12));
  // Beams without a focus, each of five neighbours, along the normal in the middle of them.
  c.transmit = {};
  c.transmit.kind = TransmitKind::beams;
  c.transmit.events = 8;
  c.transmit.aperture = 5;
  c.transmit.focus = Metres(std::numeric_limits<double>::infinity());
  for (std::size_t event = 0; event < 8; ++event) {
    const double turn = element_x(c, event + 2) / c.radius.value;
    expect_firings(firings_of(acquisition_of(c), event), arc_shots(c, turn, event, 5));
  }
  EXPECT_NO_THROW(FmcSimulator{c});
}

TEST(Transmits, ManyEchoesAtManyDelays) {
  SimulatorConfiguration c = plain_source();
  c.elements = 4;
  c.samples = 400;
  c.phantom.points.clear();
  for (int k = 0; k < 80; ++k) {
    c.phantom.points.push_back({"", {Metres(1e-4 * ((37 * k) % 80 - 40)), Metres(0.0), Metres(4e-3 + 3e-4 * k)}, 0.1, {}});
  }
  std::vector<std::vector<Shot>> shots;
  for (int event = 0; event < 32; ++event) {
    LawEvent law;
    std::vector<Shot>& of_event = shots.emplace_back();
    for (std::uint32_t e = 0; e < 4; ++e) {
      law.elements.push_back(e);
      law.delays.push_back(static_cast<float>(1e-9 * (event * (3.0 + 7.1 * e) - 60.0)));  // some before the event
      law.weights.push_back(e == 1 ? 0.5F : 1.0F);
      of_event.push_back({e, static_cast<double>(law.delays.back()), e == 1 ? 0.5 : 1.0});
    }
    c.events.push_back({law, {}});
  }
  expect_heard(c, [&](std::size_t event) { return shots[event]; });
}

TEST(Transmits, PlaneWavesOfShearAngles) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::plane;
  c.transmit.events = 1;
  c.transmit.angles = {20.0, 30.0};  // one alone lies between
  c.transmit.medium = WaveMedium::shear;
  c.transmit.fire = {7, 2, 3};
  expect_heard(c, [&](std::size_t) {
    std::vector<Shot> shots;
    for (const std::size_t e : {7U, 2U, 3U}) shots.push_back({e, element_x(c, e) * std::sin(25.0 * degree) / 3130.0});
    return from_zero(shots);
  });
}

TEST(Transmits, VirtualSourcesAlongTheArray) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::diverging;
  c.transmit.events = 4;
  c.transmit.focus = Metres(3e-3);
  expect_heard(c, [&](std::size_t event) {
    const double x = element_x(c, 0) + (element_x(c, 11) - element_x(c, 0)) * static_cast<double>(event) / 3.0;
    std::vector<Shot> shots;
    for (std::size_t e = 0; e < c.elements; ++e) shots.push_back({e, std::hypot(element_x(c, e) - x, 3e-3) / 6320.0});
    return from_zero(shots);
  });
}

TEST(Transmits, WalkingBeamsFocusInFrontOfTheirAperture) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::focused;
  c.transmit.events = 12;  // one in front of each element
  c.transmit.focus = Metres(14e-3);
  c.transmit.aperture = 5;
  c.transmit.receive_aperture = 3;
  const Acquisition a = acquisition_of(c);
  const auto first_of = [](std::size_t event, std::size_t aperture) {
    return std::min(std::max<std::size_t>(event, aperture / 2) - aperture / 2, 12 - aperture);
  };
  for (std::size_t event = 0; event < 12; ++event) {
    // About the middle of the five that fire, which stays within the array.
    const auto first = static_cast<std::uint32_t>(first_of(first_of(event, 5) + 2, 3));
    EXPECT_THAT(a.events[event].receivers, testing::ElementsAre(first, first + 1, first + 2)) << event;
  }
  expect_heard(c, [&](std::size_t event) {
    std::vector<Shot> shots;
    for (std::size_t e = first_of(event, 5); e < first_of(event, 5) + 5; ++e) {
      shots.push_back({e, -std::hypot(element_x(c, e) - element_x(c, event), 14e-3) / 6320.0});
    }
    return from_zero(shots);
  });
}

TEST(Transmits, BeamsAtAngles) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::focused;
  c.transmit.events = 3;
  c.transmit.focus = Metres(20e-3);
  c.transmit.angles = {-30.0, 30.0};
  expect_heard(c, [&](std::size_t event) {
    const double angle = (-30.0 + 30.0 * static_cast<double>(event)) * degree;
    std::vector<Shot> shots;
    for (std::size_t e = 0; e < c.elements; ++e) {
      shots.push_back({e, -std::hypot(element_x(c, e) - 20e-3 * std::sin(angle), 20e-3 * std::cos(angle)) / 6320.0});
    }
    return from_zero(shots);
  });
}

TEST(Transmits, LawsOfDelaysAndWeightsAndReceiversOfTheirOwn) {
  SimulatorConfiguration c = plain_source();
  c.dead_elements = {4};
  const LawEvent law{{9, 4, 0}, {0.5e-6F, 0.0F, -0.25e-6F}, {0.5F, 3.0F, 1.5F}};
  const LawEvent negative{{1, 2}, {}, {-0.25F, -2.0F}};  // no code: none is positive
  c.events = {{law, {3, 0}}, {ElementEvent{5}, {}}, {negative, {11}}};
  const auto frame = frame_of(c);
  const std::vector<std::vector<Shot>> shots{{{9, 0.5e-6F, 0.5}, {0, -0.25e-6F, 1.5}}, {{5}}, {{1, 0.0, -0.25}, {2, 0.0, -2.0}}};
  std::size_t row = 0;
  for (const EventReceiver pair : FrameLayout(acquisition_of(c)).pairs()) {
    const auto found = row_of(c, frame, row++);
    const auto expected = pair.receiver == 4 ? test::Signal(c.samples, 0.0) : heard(c, shots[pair.event], pair.receiver);
    for (std::size_t n = 0; n < found.size(); ++n) ASSERT_NEAR(found[n], expected[n], 4e-7 * 1.6 * 2.25) << row;
  }
  EXPECT_EQ(row, 2U + 12U + 1U);
}

/// A file of a test, gone with it.
class Written {
 public:
  Written(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "-" + name)) {
    std::ofstream(path_) << text;
  }
  ~Written() { std::filesystem::remove(path_); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

SimulatorConfiguration of_files(const std::string& delays, const std::string& weights, std::size_t elements = 3) {
  const Written delay_file("delays.csv", delays);
  const Written weight_file("weights.csv", weights);
  const auto key = [](const char* name, const Written& file, bool used) {
    return used ? fmt::format("{} = \"{}\"\n", name, file.path().string()) : std::string();
  };
  const Written file("laws.toml",
                     fmt::format("[simulator]\nelements = {}\ntransmit = \"laws\"\n{}{}", elements,
                                 key("delays", delay_file, !delays.empty()), key("weights", weight_file, !weights.empty())));
  return simulated_source(load_configuration(file.path()));
}

TEST(Transmits, LawsAndCodesFromFiles) {
  const auto laws = acquisition_of(of_files("# s\n0, 1e-7, 2e-7\n0,0,0\n", "1,0.5,0\n0,0,2\n")).events;
  ASSERT_EQ(laws.size(), 2U);
  EXPECT_EQ(std::get<LawEvent>(laws[0].form), (LawEvent{{0, 1}, {0.0F, 1e-7F}, {1.0F, 0.5F}}));
  EXPECT_EQ(std::get<LawEvent>(laws[1].form), (LawEvent{{2}, {0.0F}, {2.0F}}));
  const auto code = acquisition_of(of_files("", "1,0,1\n0,1,1\n1,1,0\n")).events;
  ASSERT_EQ(code.size(), 3U);
  EXPECT_EQ(std::get<CodeEvent>(code[0].form), (CodeEvent{{1, 0, 1}}));
  EXPECT_EQ(std::get<CodeEvent>(code[2].form), (CodeEvent{{1, 1, 0}}));
}

TEST(Transmits, FilesOfLawsThatAreWrongAreRefusedInOneLine) {
  const auto refusal = [](const std::string& delays, const std::string& weights) {
    return test::input_error([&] { static_cast<void>(of_files(delays, weights)); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("", ""), HasSubstr("[simulator] transmit: found \"laws\" alone; expected delays or weights, or both"));
  EXPECT_THAT(refusal("", "1,1\n"), HasSubstr("weights.csv"));
  EXPECT_THAT(refusal("0,0,0\n", "1,1,1\n1,1,1\n"), HasSubstr("[simulator] weights: found 2 events; expected 1, as delays has"));
  EXPECT_THAT(refusal("2,0,0\n", ""), HasSubstr("[simulator] event 0: found a delay of 2 s"));
  EXPECT_THAT(refusal("0,0,0\n", "0,0,0\n"), HasSubstr("[simulator] event 0: found a law of no elements"));
}

TEST(Transmits, WhatDeadElementsAloneFireIsSilent) {
  SimulatorConfiguration c = plain_source();
  c.noise_rms = 0.1;
  c.dead_elements = {4, 6};
  c.events = {{LawEvent{{4, 6}}, {}}, {LawEvent{{4, 5}}, {}}};
  const auto frame = frame_of(c);
  EXPECT_EQ(row_of(c, frame, 0), test::Signal(c.samples, 0.0));
  EXPECT_NE(row_of(c, frame, 12), test::Signal(c.samples, 0.0));
}

/// Delays of whole samples, so that rows of the full matrix need only be moved: in every scene.
class ScenesOfEvents : public testing::TestWithParam<int> {};

TEST_P(ScenesOfEvents, EventsAreSumsOfTheFullMatrix) {
  SimulatorConfiguration c = plain_source();
  c.elements = 6;
  c.element_width = Metres(0.5e-3);
  c.directivity = true;
  c.spreading = Spreading::cylindrical;
  c.samples = 1400;
  c.phantom.holes = {{"hole", {Metres(2e-3), Metres(0.0), Metres(11e-3)}, Metres(0.5e-3), -0.7, {}}};
  switch (GetParam()) {
    case 0:  // contact, straight rays
      c.phantom.backwalls = {{"backwall", Metres(30e-3), 0.6}};
      break;
    case 1:  // contact, both modes, skips to and fro
      c.scene.modes = "LT";
      c.scene.skips = 2;
      c.scene.backwall.kind = CurveKind::plane;
      c.scene.backwall.z = 30e-3;
      break;
    case 2:  // in water
      c.scene.couplant = MetresPerSecond(1480.0);
      c.scene.modes = "LT";
      c.placement.stand_off = Metres(8e-3);
      break;
    default:  // on a wedge
      c.scene.couplant = MetresPerSecond(2330.0);
      c.scene.modes = "LT";
      c.placement = {Metres(-10e-3), Metres(8e-3), 25.0};
      break;
  }
  const auto full = frame_of(c);
  const Acquisition full_acquisition = acquisition_of(c);
  const std::vector<int> delays{0, 7, 3, 12, 0, 1};
  const std::vector<float> weights{1.0F, 0.5F, 1.5F, 1.0F, 0.25F, 2.0F};
  LawEvent law{{0, 1, 2, 3, 4, 5}, {}, weights};
  for (const int delay : delays) law.delays.push_back(static_cast<float>(delay / c.sample_rate.value));
  SimulatorConfiguration together = c;
  together.events = {{law, {}}, {ElementEvent{2}, {}}};
  const auto frame = frame_of(together);
  double loudest = 0.0;
  double off = 0.0;
  for (std::size_t receiver = 0; receiver < c.elements; ++receiver) {
    test::Signal expected(c.samples, 0.0);
    for (std::size_t e = 0; e < c.elements; ++e) {
      const auto alone = test::a_scan(full_acquisition, full, e, receiver);
      for (std::size_t n = static_cast<std::size_t>(delays[e]); n < expected.size(); ++n) {
        expected[n] += static_cast<double>(weights[e]) * alone[n - static_cast<std::size_t>(delays[e])];
      }
    }
    const auto found = row_of(together, frame, receiver);
    for (std::size_t n = 0; n < found.size(); ++n) {
      loudest = std::max(loudest, std::abs(expected[n]));
      off = std::max(off, std::abs(found[n] - expected[n]));
    }
    EXPECT_EQ(row_of(together, frame, c.elements + receiver), test::a_scan(full_acquisition, full, 2, receiver)) << receiver;
  }
  EXPECT_GT(loudest, 0.0);
  // Delays in single precision are off by 2e-14 s, 1e-6 of a period; the rest as above.
  EXPECT_LT(off, 2e-6 * loudest);
}

INSTANTIATE_TEST_SUITE_P(ContactSkipsWaterWedge, ScenesOfEvents, testing::Range(0, 4));

TEST(Transmits, HadamardRowsDecodeIntoTheFullMatrixAndTheirNoiseFallsByN) {
  SimulatorConfiguration c = plain_source();
  c.elements = 8;
  const auto full = frame_of(c);
  const Acquisition full_acquisition = acquisition_of(c);
  c.transmit.kind = TransmitKind::hadamard;
  const auto decoded = [&](const SimulatorConfiguration& of, std::size_t element, std::size_t receiver) {
    const auto frame = frame_of(of);
    test::Signal sum(of.samples, 0.0);
    for (std::size_t event = 0; event < 8; ++event) {
      unsigned both = static_cast<unsigned>(event & element);
      both ^= both >> 2;
      both ^= both >> 1;
      const auto row = row_of(of, frame, event * 8 + receiver);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += (both & 1U ? -1.0 : 1.0) * row[n] / 8.0;
    }
    return sum;
  };
  for (const auto& [element, receiver] : {std::pair{0, 0}, {3, 5}, {7, 2}}) {
    const auto expected = test::a_scan(full_acquisition, full, element, receiver);
    const auto found = decoded(c, element, receiver);
    // Eight rows of up to eight times the amplitude, each rounded to single precision.
    for (std::size_t n = 0; n < found.size(); ++n) ASSERT_NEAR(found[n], expected[n], 2e-6);
  }
  // The variance of 2^20 decoded samples that are independent is right to sqrt(2) / 2^10 = 0.006 dB; five of them allowed.
  c.phantom = {};
  c.noise_rms = 0.01;
  c.samples = 1u << 17;
  const auto frame = frame_of(c);
  double square = 0.0;
  for (std::size_t receiver = 0; receiver < 8; ++receiver) {
    test::Signal sum(c.samples, 0.0);
    for (std::size_t event = 0; event < 8; ++event) {
      const auto row = row_of(c, frame, event * 8 + receiver);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += (event % 2 == 0 ? 1.0 : -1.0) * row[n] / 8.0;  // element 1
    }
    square = std::inner_product(sum.begin(), sum.end(), sum.begin(), square);
  }
  EXPECT_NEAR(10.0 * std::log10(square / (8.0 * static_cast<double>(c.samples)) / 1e-4), -10.0 * std::log10(8.0), 0.03);
}

TEST(Transmits, HadamardOverSomeElementsLeavesTheOthersSilent) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::hadamard;
  c.transmit.fire = {8, 1};
  expect_heard(c, [](std::size_t event) { return std::vector<Shot>{{8}, {1, 0.0, event == 0 ? 1.0 : -1.0}}; });
}

TEST(Transmits, ReceiversOfElementsThatFireInTurn) {
  SimulatorConfiguration c = plain_source();
  const auto full = frame_of(c);
  const Acquisition full_acquisition = acquisition_of(c);
  c.transmit.receive = {9, 2};
  EXPECT_EQ(acquisition_of(c).a_scans(), 24U);
  const auto frame = frame_of(c);
  for (std::size_t e = 0; e < 12; ++e) {
    EXPECT_EQ(row_of(c, frame, 2 * e), test::a_scan(full_acquisition, full, e, 9)) << e;
    EXPECT_EQ(row_of(c, frame, 2 * e + 1), test::a_scan(full_acquisition, full, e, 2)) << e;
  }
  c.transmit.receive = {};
  c.transmit.receive_aperture = 4;
  c.transmit.fire = {0, 6};
  const Acquisition walking = acquisition_of(c);
  EXPECT_THAT(walking.events[0].receivers, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(walking.events[1].receivers, testing::ElementsAre(5, 6, 7, 8));
}

TEST(Transmits, UsualAnglesFollowTheMedium) {
  SimulatorConfiguration c = plain_source();
  c.transmit.kind = TransmitKind::plane;
  const auto slowness = [&](std::size_t event) {
    return std::get<PlaneWaveEvent>(acquisition_of(c).events[event].form).slowness_x;
  };
  EXPECT_EQ(acquisition_of(c).events.size(), 16U);
  EXPECT_DOUBLE_EQ(slowness(0), std::sin(-20.0 * degree) / 6320.0);
  EXPECT_DOUBLE_EQ(slowness(15), std::sin(20.0 * degree) / 6320.0);
  c.scene.couplant = MetresPerSecond(1480.0);
  EXPECT_DOUBLE_EQ(slowness(15), std::sin(10.0 * degree) / 1480.0);
  c.transmit.medium = WaveMedium::shear;
  EXPECT_DOUBLE_EQ(slowness(15), std::sin(20.0 * degree) / 3130.0);
}

TEST(Transmits, WavesOfTheDemoDoNotSaturate) {
  for (const TransmitKind kind : {TransmitKind::plane, TransmitKind::diverging, TransmitKind::focused, TransmitKind::hadamard}) {
    SimulatorConfiguration c = demo_simulator(1);
    c.transmit.kind = kind;
    EXPECT_DOUBLE_EQ(acquisition_of(c).sample_scale, 32.0 / 2047.0);
    const auto frame = frame_of(c, 3);
    double largest = 0.0;
    for (std::size_t row = 0; row < acquisition_of(c).a_scans(); ++row) {
      for (const double count : row_of(c, frame, row)) largest = std::max(largest, std::abs(count));
    }
    EXPECT_LT(largest, 2047.0);
    EXPECT_GT(largest, 100.0);
  }
}

/// A pose is what [probe] x, stand_off and angle are for a probe that stays there.
TEST(SeveralPositions, AreFramesThatAreSeenFromEach) {
  const std::vector<std::array<double, 3>> places{
      {0.0, 0.0, 0.0}, {2.5e-3, 0.3e-3, 12.0}, {-4e-3, 0.0, -7.0}};  // x, height, degrees
  for (const TransmitKind kind : {TransmitKind::elements, TransmitKind::plane}) {
    SimulatorConfiguration c = plain_source();
    c.transmit.kind = kind;
    if (kind == TransmitKind::plane) c.transmit.events = 3;
    for (const auto& [x, height, angle] : places) {
      const double cosine = std::cos(angle * degree);
      const double sine = std::sin(angle * degree);
      c.positions.push_back({{Metres(x), Metres(0.0), Metres(-height)}, {cosine, 0.0, sine}, {0.0, 1.0, 0.0}});
    }
    const Acquisition a = acquisition_of(c);
    EXPECT_EQ(a.positions, c.positions);
    ASSERT_EQ(a.event_count(), 3 * (kind == TransmitKind::plane ? 3U : 12U));
    const std::vector<std::byte> frame = frame_of(c);
    for (std::size_t k = 0; k < places.size(); ++k) {
      SimulatorConfiguration alone = c;
      alone.positions.clear();
      alone.placement = {Metres(places[k][0]), Metres(places[k][1]), places[k][2]};
      const std::vector<std::byte> there = frame_of(alone);
      ASSERT_EQ(3 * there.size(), frame.size());
      const auto values = [](std::span<const std::byte> bytes) {
        std::vector<float> samples(bytes.size() / sizeof(float));
        std::memcpy(samples.data(), bytes.data(), bytes.size());
        return samples;
      };
      // Places are rounded by the turn: 1e-17 m of waves of a millimetre, in samples of single precision.
      EXPECT_THAT(values(std::span(frame).subspan(k * there.size(), there.size())),
                  testing::Pointwise(testing::FloatNear(1e-6F), values(there)))
          << k;
    }
    // Noise is another at each; at the first that of one position.
    c.noise_rms = 0.1;
    c.phantom = {};
    c.phantom.points = {{"none", {Metres(0.0), Metres(0.0), Metres(10e-3)}, 0.0, {}}};
    const std::vector<std::byte> noise = frame_of(c);
    const std::size_t size = noise.size() / 3;
    EXPECT_FALSE(std::equal(noise.begin(), noise.begin() + static_cast<std::ptrdiff_t>(size),
                            noise.begin() + static_cast<std::ptrdiff_t>(size)));
    SimulatorConfiguration alone = c;
    alone.positions.clear();
    EXPECT_TRUE(std::ranges::equal(std::span(noise).first(size), frame_of(alone)));
  }
}

TEST(SeveralPositions, ThatCannotBeAreOneLine) {
  SimulatorConfiguration c = plain_source();
  const auto message = [&] { return test::input_error([&] { validate(c, "[simulator]"); }); };
  c.positions.assign(257, {});
  EXPECT_EQ(message(), "[simulator] positions: found 257; expected at most 256 a frame");
  c.positions.assign(2, {});
  EXPECT_EQ(message(), "");
  c.matrix = MatrixKind::half;
  EXPECT_EQ(message(), "[simulator] events: found events and a half matrix; expected one of both");
  c.matrix = MatrixKind::full;
  c.positions[1].y = {0.0, -1.0, 0.0};
  EXPECT_EQ(message(),
            "[simulator] position 1: found element 0 emitting towards z = -1; expected a probe that is not upside down: emission "
            "into the part "
            "(+z)");
}

}  // namespace
}  // namespace echoform
