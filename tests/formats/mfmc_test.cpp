#include <gmock/gmock.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <tuple>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/sanitizers.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class Mfmc : public ::testing::Test {
 protected:
  std::unique_ptr<Recording> open(const MfmcMaker& maker, const RecordingOptions& options = {}) {
    maker.write(file_);
    return open_recording(file_, options);
  }
  static std::vector<float> frame(Recording& recording, std::size_t k) {
    std::vector<float> samples(recording.acquisition().a_scans() * recording.acquisition().samples);
    recording.read_frame(k, samples);
    return samples;
  }
  std::string error_now() {
    return input_error([&] {
      const auto recording = open_recording(file_);
      for (std::size_t k = 0; k < recording->frames(); ++k) static_cast<void>(frame(*recording, k));
    });
  }
  std::string error_of(const MfmcMaker& maker) {
    maker.write(file_);
    return error_now();
  }
  /// Opens the file and compares every sample of every frame with what was written.
  void expect_right(const MfmcMaker& maker, MatrixKind matrix) {
    const auto recording = open(maker);
    const Acquisition& a = recording->acquisition();
    ASSERT_EQ(a.matrix, matrix);
    ASSERT_EQ(a.elements(), maker.elements);
    ASSERT_EQ(a.samples, maker.samples);
    ASSERT_EQ(recording->frames(), maker.frames);
    EXPECT_NEAR(a.sample_rate.value, 25e6, 1e-3);
    EXPECT_EQ(a.start_time.value, -1e-6);
    EXPECT_EQ(recording->material().shear_velocity.value, 3130.0);
    EXPECT_EQ(recording->material().longitudinal_velocity.value, 6320.0);
    EXPECT_EQ(a.probe.centre_frequency.value, 5e6);
    EXPECT_NEAR(a.probe.elements[1].width.value, 4e-4, 1e-12);
    EXPECT_NEAR(a.probe.elements[1].length.value, 1e-2, 1e-12);
    const FrameLayout layout(a);
    for (std::size_t k = 0; k < maker.frames; ++k) {
      const auto samples = frame(*recording, k);
      for (const auto& [i, j] : maker.all_pairs()) {
        const std::size_t at =
            matrix == MatrixKind::full ? layout.row_of(i, j).value() : layout.row_of(std::min(i, j), std::max(i, j)).value();
        for (std::size_t n = 0; n < a.samples; ++n) {
          ASSERT_EQ(samples[at * a.samples + n], static_cast<float>(maker.sample(k, i, j, n)))
              << k << ": " << i << ", " << j << ", " << n;
        }
      }
    }
  }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "made.mfmc";
};

TEST_F(Mfmc, StyleOfTheMatlabWriter) {
  MfmcMaker maker;
  maker.frames = 3;
  maker.scalar_element = true;
  maker.deflate = true;
  maker.extras = true;
  maker.data_type = H5T_STD_I8LE;
  maker.index_type = H5T_IEEE_F64LE;
  expect_right(maker, MatrixKind::full);
}

TEST_F(Mfmc, StyleOfGroupedNamesAndOneHotWeights) {
  MfmcMaker maker;
  maker.grouped = true;
  maker.fixed_strings = true;
  maker.root_type = false;
  maker.one_hot = true;
  maker.scalar_attributes = true;
  maker.data_type = H5T_IEEE_F32BE;
  maker.index_type = H5T_STD_U16BE;
  expect_right(maker, MatrixKind::full);
}

TEST_F(Mfmc, AnyNumberTypeOfSamples) {
  for (const hid_t type : {H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_I32BE, H5T_STD_I64LE, H5T_IEEE_F64LE, H5T_IEEE_F64BE}) {
    MfmcMaker maker;
    maker.data_type = type;
    expect_right(maker, MatrixKind::full);
  }
}

TEST_F(Mfmc, PairsInAnyOrder) {
  MfmcMaker maker;
  maker.frames = 2;
  maker.pairs = maker.all_pairs();
  std::mt19937 random(7);
  std::shuffle(maker.pairs.begin(), maker.pairs.end(), random);
  expect_right(maker, MatrixKind::full);
  std::erase_if(maker.pairs, [](const auto& pair) { return pair.first > pair.second; });
  expect_right(maker, MatrixKind::half);
  for (auto& pair : maker.pairs) std::swap(pair.first, pair.second);
  expect_right(maker, MatrixKind::half);
}

TEST_F(Mfmc, AllReceiversOfSomeTransmittersAreEvents) {
  MfmcMaker maker;
  for (const std::size_t transmit : {3U, 1U}) {
    for (const std::size_t receive : {2U, 0U, 3U, 1U}) maker.pairs.emplace_back(transmit, receive);
  }
  const auto recording = open(maker);
  const Acquisition& a = recording->acquisition();
  EXPECT_EQ(a.events, element_events(std::vector<std::uint32_t>{3, 1}));
  const auto samples = frame(*recording, 0);
  ASSERT_EQ(samples.size(), 2 * 4 * a.samples);
  for (const auto& [transmit, receive] : maker.pairs) {
    const std::size_t row = (transmit == 3 ? 0 : 4) + receive;
    for (std::size_t n = 0; n < a.samples; ++n) {
      ASSERT_EQ(samples[row * a.samples + n], static_cast<float>(maker.sample(0, transmit, receive, n)))
          << transmit << ", " << receive << ", " << n;
    }
  }
}

TEST_F(Mfmc, SeveralSequences) {
  MfmcMaker maker;
  maker.sequences = 2;
  const auto first = open(maker);
  EXPECT_THAT(first->describe(), HasSubstr("2 sequences, this is /SEQUENCE<1>"));
  EXPECT_EQ(frame(*first, 0)[0], static_cast<float>(maker.sample(0, 0, 0, 0)));
  RecordingOptions second;
  second.sequence = 1;
  EXPECT_EQ(frame(*open_recording(file_, second), 0)[0], static_cast<float>(maker.sample(1000, 0, 0, 0)));
  second.sequence = 2;
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_, second)); }),
              HasSubstr("a request for sequence 2; expected 0 to 1"));
}

TEST_F(Mfmc, DeadElementsAreNamedAndTheirSamplesHandedOn) {
  MfmcMaker maker;
  maker.dead = {0, 1, 0, 0};
  const auto recording = open(maker);
  EXPECT_TRUE(recording->acquisition().probe.elements[1].dead);
  EXPECT_THAT(recording->describe(), HasSubstr("7 A-scans of dead elements"));
  const auto samples = frame(*recording, 0);
  EXPECT_EQ(samples[(1 * 4 + 2) * 6 + 1], static_cast<float>(maker.sample(0, 1, 2, 1)));
  EXPECT_EQ(samples[(2 * 4 + 3) * 6 + 1], static_cast<float>(maker.sample(0, 2, 3, 1)));
}

TEST_F(Mfmc, TiltedPlacementsMoveTheProbe) {
  // A wedge of 15 degrees: x of the probe points down into the part by 15 degrees, so its first element is highest.
  const double tilt = 15.0 * std::numbers::pi / 180.0;
  MfmcMaker maker;
  maker.frames = 3;
  maker.positions = {{0.01, 0.002, -0.02}, {0.03, 0.002, -0.02}};
  // Magnitudes do not matter, and y need not be square to x.
  maker.x_directions = {{3 * std::cos(tilt), 0, 3 * std::sin(tilt)}, {1, 0, 0}};
  maker.y_directions = {{0.2 * std::cos(tilt), 5, 0.2 * std::sin(tilt)}, {0, 1, 0}};
  maker.frame_placement = {1, 2, 1};
  const auto recording = open(maker);
  EXPECT_THAT(recording->describe(), HasSubstr("the probe takes 2 places"));
  const Probe first = recording->probe(0);
  EXPECT_EQ(first, recording->acquisition().probe);
  EXPECT_EQ(first, recording->probe(2));
  for (std::size_t i = 0; i < 4; ++i) {
    const double along = 6e-4 * static_cast<double>(i);
    EXPECT_NEAR(first.elements[i].centre.x.value, 0.01 + along * std::cos(tilt), 1e-12);
    EXPECT_NEAR(first.elements[i].centre.y.value, 0.002, 1e-12);
    EXPECT_NEAR(first.elements[i].centre.z.value, -0.02 + along * std::sin(tilt), 1e-12);
    EXPECT_NEAR(first.elements[i].normal.x, -std::sin(tilt), 1e-12);
    EXPECT_NEAR(first.elements[i].normal.y, 0.0, 1e-12);
    EXPECT_NEAR(first.elements[i].normal.z, std::cos(tilt), 1e-12);
    EXPECT_NEAR(recording->probe(1).elements[i].centre.x.value, 0.03 + along, 1e-12);
  }
  EXPECT_THAT(input_error([&] { static_cast<void>(recording->probe(3)); }), HasSubstr("frame 3; expected 0 to 2"));
}

TEST_F(Mfmc, RefusesProbesThatPointAwayOrLieInside) {
  MfmcMaker away;
  away.y_directions = {{0, -1, 0}};
  EXPECT_THAT(error_of(away),
              AllOf(HasSubstr(file_.string()), HasSubstr("emission towards z = -1; expected emission into the part (+z)")));
  MfmcMaker inside;
  inside.positions = {{0, 0, 1e-3}};
  EXPECT_THAT(error_of(inside), HasSubstr("z = 0.001 m; expected z <= 0"));
  MfmcMaker flat;
  flat.y_directions = {{2, 0, 0}};
  EXPECT_THAT(error_of(flat), HasSubstr("parallel"));
  MfmcMaker upright;
  upright.x_directions = {{0, 0, 0}};
  upright.y_directions = {{0, 0, 2}};
  EXPECT_THAT(error_of(upright), HasSubstr("PROBE_Y_DIRECTION along z, and no PROBE_X_DIRECTION"));
}

TEST_F(Mfmc, ElementAxesThatAreTurnedAlikeEmitAlongZ) {
  // As the MATLAB tools of the specification write them: MAJOR x MINOR is -z.
  MfmcMaker maker;
  maker.minor = {2e-4, 0.0, 0.0};
  {
    const auto recording = open(maker);
    EXPECT_THAT(recording->describe(), HasSubstr("ELEMENT_MAJOR x ELEMENT_MINOR points along -z of the probe"));
    for (const Element& element : recording->probe(0).elements) {
      EXPECT_EQ(element.normal.z, 1.0);
      EXPECT_NEAR(element.width.value, 4e-4, 1e-15);
    }
  }
  // On a wedge too, whose face is found by where elements emit.
  maker.wedge_point = {0.0, 0.0, 5e-3};
  maker.wedge_normal = {0.0, 0.0, -1.0};
  EXPECT_NEAR(open(maker)->probe(0).elements[0].centre.z.value, -5e-3, 1e-15);
  // Placed upside down as well they emit into the part as they stand.
  MfmcMaker over;
  over.minor = {2e-4, 0.0, 0.0};
  over.y_directions = {{0, -1, 0}};
  const auto turned = open(over);
  EXPECT_EQ(turned->probe(0).elements[0].normal.z, 1.0);
  EXPECT_THAT(turned->describe(), testing::Not(HasSubstr("ELEMENT_MAJOR")));
}

TEST_F(Mfmc, ElementsHaveTheirWidthAlongXWhicheverWayTheProbeIsTurned) {
  // 0.4 mm along the probe's x, 10 mm along its y; a quarter turn about z, either way, brings the 10 mm along x.
  for (const auto& [x, y, along, across] :
       {std::tuple{Triple{1, 0, 0}, Triple{0, 1, 0}, 4e-4, 1e-2}, std::tuple{Triple{-1, 0, 0}, Triple{0, -1, 0}, 4e-4, 1e-2},
        std::tuple{Triple{0, 1, 0}, Triple{-1, 0, 0}, 1e-2, 4e-4}, std::tuple{Triple{0, -1, 0}, Triple{1, 0, 0}, 1e-2, 4e-4},
        std::tuple{Triple{0.9, 0.1, 0}, Triple{-0.1, 0.9, 0}, 4e-4, 1e-2}}) {
    MfmcMaker maker;
    maker.x_directions = {x};
    maker.y_directions = {y};
    for (const Element& element : open(maker)->probe(0).elements) {
      EXPECT_NEAR(element.width.value, along, 1e-15);
      EXPECT_NEAR(element.length.value, across, 1e-15);
    }
  }
}

TEST_F(Mfmc, DirectionsThatAreZeroAreThoseOfALevelProbe) {
  const Triple zero{0, 0, 0};
  for (const auto& [x, y] : {std::pair{zero, zero}, std::pair{zero, Triple{0, 3, 0}}, std::pair{Triple{2, 0, 0}, zero}}) {
    MfmcMaker maker;
    maker.x_directions = {x};
    maker.y_directions = {y};
    maker.positions = {{0.01, 0.002, -0.02}};
    const auto recording = open(maker);
    EXPECT_THAT(recording->describe(), HasSubstr("PROBE_X_DIRECTION or PROBE_Y_DIRECTION is zero"));
    const Element last = recording->probe(0).elements[3];
    EXPECT_NEAR(last.centre.x.value, 0.01 + 3 * 6e-4, 1e-12);
    EXPECT_NEAR(last.centre.y.value, 0.002, 1e-12);
    EXPECT_NEAR(last.centre.z.value, -0.02, 1e-12);
    EXPECT_EQ(last.normal.z, 1.0);
  }
}

TEST_F(Mfmc, AWedgeThatContradictsItsPlacementIsWarnedOf) {
  const double tilt = 20.0 * std::numbers::pi / 180.0;
  MfmcMaker maker;
  maker.wedge_point = {0.0, 0.0, 5e-3};
  maker.wedge_normal = {std::sin(tilt), 0.0, std::cos(tilt)};
  // By the placement the array is level, and the face tilted by 20 degrees; by the face it is the other way round.
  EXPECT_THAT(open(maker)->warnings(),
              testing::ElementsAre(AllOf(HasSubstr(file_.string()),
                                         HasSubstr("PROBE_X_DIRECTION and PROBE_Y_DIRECTION put the wedge's "
                                                   "face 20 degrees off"),
                                         HasSubstr("WEDGE_SURFACE_NORMAL says"))));
  maker.x_directions = {{std::cos(tilt), 0, std::sin(tilt)}};
  EXPECT_THAT(open(maker)->warnings(), testing::IsEmpty()) << "they agree";
  maker.x_directions = {{0, 0, 0}};
  EXPECT_THAT(open(maker)->warnings(), testing::IsEmpty()) << "a placement without directions says nothing of it";
}

TEST_F(Mfmc, EchoesSayWhetherTheWedgeOrItsPlacementIsRight) {
  // By the face: 8 mm square to it from the first element, tilted by 10 degrees. By the placement: level, 12 mm above the part.
  const double tilt = 10.0 * std::numbers::pi / 180.0;
  MfmcMaker maker;
  maker.elements = 8;
  maker.samples = 1200;
  maker.positions = {{0.0, 0.0, -12e-3}};
  maker.wedge_point = {8e-3 * std::sin(tilt), 0.0, 8e-3 * std::cos(tilt)};
  maker.wedge_normal = {std::sin(tilt), 0.0, std::cos(tilt)};
  maker.wedge_velocity = {1150.0, 2330.0};
  const auto by_wedge = [&](std::size_t i) { return 8e-3 - 6e-4 * static_cast<double>(i) * std::sin(tilt); };
  const auto by_placement = [](std::size_t) { return 12e-3; };
  const auto nowhere = [](std::size_t i) { return 4e-3 + 7e-4 * static_cast<double>(i * i % 5); };
  MfmcMaker plain = maker;
  plain.wedge_velocity.clear();
  const auto start_and_rate = [&] {
    const auto recording = open(plain);
    return std::pair(recording->acquisition().start_time.value, recording->acquisition().sample_rate.value);
  }();
  const auto warning_of = [&](const std::function<double(std::size_t)>& height, double turned) {
    maker.sample = [=](std::size_t, std::size_t tx, std::size_t rx, std::size_t n) {
      const double apart = 6e-4 * (static_cast<double>(tx) - static_cast<double>(rx)) * std::cos(turned);
      const double time = std::hypot(apart, height(tx) + height(rx)) / 2330.0;
      const double late = start_and_rate.first + static_cast<double>(n) / start_and_rate.second - time;
      return std::round(1000.0 * std::exp(-std::pow(late / 0.15e-6, 2)) * std::cos(2.0 * std::numbers::pi * 5e6 * late));
    };
    const auto recording = open(maker);
    EXPECT_EQ(recording->warnings().size(), 2u);
    return recording->warnings().back();
  };
  EXPECT_THAT(warning_of(by_wedge, tilt), HasSubstr("the face's echoes agree with the wedge (semblance"));
  EXPECT_THAT(warning_of(by_placement, 0.0),
              AllOf(HasSubstr(file_.string()), HasSubstr("the face's echoes agree with the placement (semblance"),
                    HasSubstr("[probe] stand_off = 0.012 and angle = -10 put the probe there")));
  EXPECT_THAT(warning_of(nowhere, 0.0), HasSubstr("no echoes of the face tell which is right"));
}

TEST_F(Mfmc, TheWedgesFaceGivesStandOffAndTilt) {
  // A wedge whose face is 12 mm below the first element, measured square to the face, and tilted by 20 degrees: element i is
  // 6e-4 i sin(tilt) nearer to it and 6e-4 i cos(tilt) further along.
  const double tilt = 20.0 * std::numbers::pi / 180.0;
  const double height = 12e-3;
  const Triple normal{std::sin(tilt), 0.0, std::cos(tilt)};
  // The foot of the first element, and a place 7 mm along the face from there: the face is the same.
  const auto on_face = [&](double along) {
    return std::vector<double>{height * normal[0] + along * std::cos(tilt), 0.0, height * normal[2] - along * std::sin(tilt)};
  };
  struct Case {
    const char* what;
    double sign;  // of the normal: out of the wedge or into it
    double size;  // of the normal
    Triple position, x_direction, y_direction;
    double x;  // where the foot of the first element comes to lie
  };
  const double c = std::cos(tilt), s = std::sin(tilt);
  for (const Case& k :
       {Case{"a placement that says nothing", 1.0, 1.0, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, height * s},
        Case{"one whose z is not the stand-off", -1.0, 3.0, {0.05, 0.002, 0.4}, {1, 0, 0}, {0, 1, 0}, 0.05 + height * s},
        Case{"one that is level already", 1.0, 1.0, {0.05, 0.002, -height}, {c, 0, s}, {0, 1, 0}, 0.05}}) {
    MfmcMaker maker;
    maker.positions = {k.position};
    maker.x_directions = {k.x_direction};
    maker.y_directions = {k.y_direction};
    maker.wedge_point = on_face(0.0);
    for (const double component : normal) maker.wedge_normal.push_back(k.sign * k.size * component);
    maker.wedge_velocity = {1150.0, 2330.0};
    const auto recording = open(maker);
    EXPECT_EQ(recording->wedge_velocity().value, 2330.0);
    EXPECT_THAT(recording->describe(),
                HasSubstr("the wedge's face puts the aperture's middle 11.69 mm above the part, turned by 20 degrees"));
    for (std::size_t i = 0; i < 4; ++i) {
      const Element element = recording->probe(0).elements[i];
      const double along = 6e-4 * static_cast<double>(i);
      EXPECT_NEAR(element.centre.x.value, k.x + along * c, 1e-12) << k.what;
      EXPECT_NEAR(element.centre.y.value, k.position[1], 1e-12) << k.what;
      EXPECT_NEAR(element.centre.z.value, -height + along * s, 1e-12) << k.what;
      EXPECT_NEAR(element.normal.x, -s, 1e-12) << k.what;
      EXPECT_NEAR(element.normal.y, 0.0, 1e-12) << k.what;
      EXPECT_NEAR(element.normal.z, c, 1e-12) << k.what;
    }
  }
  // Elsewhere on the face the same wedge: depths are, and along the face all is moved, since that place keeps its x.
  MfmcMaker elsewhere;
  elsewhere.wedge_point = on_face(7e-3);
  elsewhere.wedge_normal = {normal[0], normal[1], normal[2]};
  const auto recording = open(elsewhere);
  EXPECT_NEAR(recording->probe(0).elements[0].centre.z.value, -height, 1e-12);
  EXPECT_NEAR(recording->probe(0).elements[0].centre.x.value, on_face(7e-3)[0] - 7e-3, 1e-12);
}

TEST_F(Mfmc, AWedgeAcrossTheArrayTurnsItAboutX) {
  // The face tilts along y: elements stay level, and emit askew.
  const double tilt = 10.0 * std::numbers::pi / 180.0;
  MfmcMaker maker;
  maker.wedge_point = {0.0, 0.0, 5e-3};
  maker.wedge_normal = {0.0, std::sin(tilt), std::cos(tilt)};
  const auto recording = open(maker);
  for (std::size_t i = 0; i < 4; ++i) {
    const Element element = recording->probe(0).elements[i];
    EXPECT_NEAR(element.centre.x.value, 6e-4 * static_cast<double>(i), 1e-12);
    EXPECT_NEAR(element.centre.z.value, -5e-3 * std::cos(tilt), 1e-12);
    EXPECT_NEAR(element.centre.y.value, 5e-3 * std::sin(tilt), 1e-12);
    EXPECT_NEAR(element.normal.y, -std::sin(tilt), 1e-12);
    EXPECT_NEAR(element.normal.z, std::cos(tilt), 1e-12);
  }
}

TEST_F(Mfmc, RefusesWedgesThatCannotBe) {
  MfmcMaker maker;
  maker.wedge_point = {0.0, 0.0, 5e-3};
  // A point alone is no plane.
  EXPECT_EQ(open(maker)->probe(0).elements[0].centre.z.value, 0.0);
  maker.wedge_normal = {0.0, 0.0, 0.0};
  EXPECT_THAT(error_of(maker), AllOf(HasSubstr("WEDGE_SURFACE_NORMAL: found a vector of length 0"), HasSubstr("a direction")));
  maker.wedge_normal = {1.0, 0.0, 0.0};
  EXPECT_THAT(error_of(maker), HasSubstr("expected a face that lies on the part"));
  maker.wedge_normal = {0.0, 1.0};
  EXPECT_THAT(error_of(maker), HasSubstr("WEDGE_SURFACE_NORMAL: found shape 2"));
  maker.wedge_normal = {0.0, 0.0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(error_of(maker), HasSubstr("WEDGE_SURFACE_NORMAL"));
  maker.wedge_normal = {0.0, 0.0, 1.0};
  maker.wedge_point = {0.0, 0.0, -5e-3};
  EXPECT_THAT(error_of(maker),
              AllOf(HasSubstr("element 1: found 5 mm beyond the wedge's face"), HasSubstr("expected elements on the")));
  maker.wedge_point = {0.0, 0.0, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(error_of(maker), HasSubstr("WEDGE_SURFACE_POINT"));
  maker.wedge_point = {0.0, 0.0, 5e-3};
  maker.wedge_velocity = {1150.0, -1.0};
  EXPECT_THAT(error_of(maker), HasSubstr("WEDGE_VELOCITY: found -1 m/s"));
}

TEST_F(Mfmc, NamesEveryMandatoryItem) {
  for (const char* name : {"ELEMENT_POSITION", "ELEMENT_MAJOR", "ELEMENT_MINOR", "ELEMENT_SHAPE", "MFMC_DATA",
                           "PROBE_PLACEMENT_INDEX", "PROBE_POSITION", "PROBE_X_DIRECTION", "PROBE_Y_DIRECTION", "TRANSMIT_LAW",
                           "RECEIVE_LAW", "PROBE_LIST", "TIME_STEP", "START_TIME", "SPECIMEN_VELOCITY", "PROBE", "ELEMENT"}) {
    MfmcMaker maker;
    maker.without = name;
    EXPECT_THAT(error_of(maker), AllOf(HasSubstr(file_.string()), HasSubstr(std::string("found no ") + name + ";"))) << name;
  }
  MfmcMaker maker;
  maker.without = "TYPE";
  EXPECT_THAT(error_of(maker), HasSubstr("no group of TYPE \"SEQUENCE\""));
  // The one item that the format's own texts disagree about.
  maker.without = "CENTRE_FREQUENCY";
  EXPECT_EQ(open(maker)->acquisition().probe.centre_frequency.value, 0.0);
}

TEST_F(Mfmc, NamesWhatIsWrong) {
  MfmcMaker rank;
  rank.flat_data = true;
  EXPECT_THAT(error_of(rank), HasSubstr("/SEQUENCE<1>/MFMC_DATA: found shape 16 x 6; expected frames x A-scans x samples"));
  MfmcMaker wrong_reference;
  wrong_reference.laws_are_probes = true;
  EXPECT_THAT(error_of(wrong_reference),
              HasSubstr("TRANSMIT_LAW: found a reference to /PROBE<1> of TYPE \"PROBE\"; expected groups of TYPE \"LAW\""));
  MfmcMaker nowhere;
  nowhere.null_laws = true;
  EXPECT_THAT(error_of(nowhere), HasSubstr("TRANSMIT_LAW: found a reference to nothing"));
  MfmcMaker index;
  index.element_offset = 1;
  EXPECT_THAT(error_of(index), HasSubstr("element 5; expected elements 1 to 4"));
  MfmcMaker text;
  text.text_time_step = true;
  EXPECT_THAT(error_of(text), HasSubstr("TIME_STEP: found something else than numbers"));
  MfmcMaker placement;
  placement.frame_placement = {2};
  EXPECT_THAT(error_of(placement), HasSubstr("PROBE_PLACEMENT_INDEX: found 2 as value 1; expected whole numbers from 1 to 1"));
  MfmcMaker twice;
  twice.pairs = {{0, 0}, {0, 0}};
  EXPECT_THAT(error_of(twice), HasSubstr("pair (1, 1) twice"));
}

TEST_F(Mfmc, NamesWhatIsWrongInAFileThatWasChanged) {
  const auto error_with = [&](const MfmcMaker& maker, const std::function<void(hid_t)>& change) {
    maker.write(file_);
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
    return error_now();
  };
  const auto attribute = [](const char* name, double value) {
    return [=](hid_t file) {
      const hid_t sequence = H5Gopen2(file, "/SEQUENCE<1>", H5P_DEFAULT);
      if (H5Aexists(sequence, name) > 0) H5Adelete(sequence, name);
      const hsize_t one = 1;
      const hid_t space = H5Screate_simple(1, &one, nullptr);
      const hid_t made = H5Acreate2(sequence, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(made, H5T_NATIVE_DOUBLE, &value);
      H5Aclose(made);
      H5Sclose(space);
      H5Gclose(sequence);
    };
  };
  /// Numbers or references, all 0, of this shape.
  const auto dataset = [](const char* name, hid_t type, const std::vector<hsize_t>& shape) {
    return [=](hid_t file) {
      H5Ldelete(file, name, H5P_DEFAULT);
      const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
      H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Sclose(space);
    };
  };
  EXPECT_THAT(error_with({}, attribute("TIME_STEP", 0.0)), EndsWith("/TIME_STEP: found 0 s; expected a positive time"));
  EXPECT_THAT(error_with({}, attribute("ECHOFORM_SAMPLE_SCALE", 0.0)),
              EndsWith("/ECHOFORM_SAMPLE_SCALE: found 0; expected a finite number other than 0"));
  EXPECT_THAT(error_with({}, dataset("/SEQUENCE<1>/PROBE_LIST", H5T_STD_REF_OBJ, {0})),
              EndsWith("/PROBE_LIST: found shape 0; expected a list of probes"));
  EXPECT_THAT(error_with({}, dataset("/SEQUENCE<1>/PROBE_POSITION", H5T_IEEE_F64LE, {1, 3})),
              EndsWith("/PROBE_POSITION: found shape 1 x 3; expected placements x 1 x 3"));
  EXPECT_THAT(error_with({}, dataset("/PROBE<1>/ELEMENT_POSITION", H5T_IEEE_F64LE, {4, 2})),
              EndsWith("/ELEMENT_POSITION: found shape 4 x 2; expected elements x 3"));
  EXPECT_THAT(error_with({},
                         [](hid_t file) {
                           H5Ocopy(file, "/PROBE<1>", file, "/PROBE<2>", H5P_DEFAULT, H5P_DEFAULT);
                           hobj_ref_t other = 0;
                           H5Rcreate(&other, file, "/PROBE<2>", H5R_OBJECT, -1);
                           const hid_t list = H5Dopen2(file, "/SEQUENCE<1>/PROBE_LIST", H5P_DEFAULT);
                           H5Dwrite(list, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, &other);
                           H5Dclose(list);
                         }),
              EndsWith("/SEQUENCE<1>: found laws for a probe that is not in PROBE_LIST; expected laws for its probes"));
  MfmcMaker away;
  away.wedge_point = {0.0, 0.0, 5e-3};
  away.wedge_normal = {1.0, 0.0, 0.0};
  EXPECT_THAT(error_of(away),
              EndsWith("WEDGE_SURFACE_NORMAL: found a face whose way into the part has z = 0; expected a face that lies "
                       "on the part (+z into it)"));
}

TEST_F(Mfmc, RefusesReceiveLawsOfSeveralElementsOrWithDelays) {
  MfmcMaker sums;
  sums.sums_of_receivers = true;
  EXPECT_THAT(error_of(sums), HasSubstr("/SEQUENCE<1>/LAW<all>: found 4 elements at work in a receive law; expected one element "
                                        "without delay (sums over receivers are not supported)"));
  MfmcMaker delayed;
  delayed.delay = 1e-7;
  EXPECT_THAT(error_of(delayed), HasSubstr("a delay of 1e-07 s in a receive law"));
}

TEST_F(Mfmc, NamesTheAScanOfASampleThatIsNotFinite) {
  MfmcMaker maker;
  maker.frames = 2;
  maker.sample = [](std::size_t frame, std::size_t tx, std::size_t rx, std::size_t n) {
    return frame == 1 && tx == 1 && rx == 2 && n == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  EXPECT_THAT(error_of(maker), HasSubstr("MFMC_DATA, frame 1, A-scan 7, sample 4: found nan"));
}

TEST_F(Mfmc, NamesInTheFileCannotSteerATerminal) {
  MfmcMaker maker;
  maker.without = "START_TIME";
  maker.write(file_);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Lmove(file, "/SEQUENCE<1>", file,
                    "/a\x1b[2J\x9b"
                    "2J\xff\n",
                    H5P_DEFAULT, H5P_DEFAULT),
            0);
  H5Fclose(file);
  EXPECT_THAT(error_now(), HasSubstr(file_.string() + ": /a?[2J?2J??: found no START_TIME"));
}

TEST_F(Mfmc, RefusesZeroesAndTruncatedFiles) {
  save(file_, std::vector<std::uint8_t>(214288, 0));
  EXPECT_THAT(error_now(), HasSubstr("no HDF5 signature"));
  MfmcMaker maker;
  maker.deflate = true;
  maker.write(file_);
  const auto whole = load(file_);
  for (std::size_t length = 1; length < whole.size(); length += 97) {
    save(file_, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    ASSERT_THAT(error_now(), HasSubstr(file_.string())) << length;
  }
}

TEST_F(Mfmc, SurvivesNoise) {
  MfmcMaker maker;
  maker.elements = 2;
  maker.deflate = true;
  maker.write(file_);
  const auto whole = load(file_);
  std::mt19937 random(20240502);
  std::size_t refused = 0;
  constexpr unsigned rounds = ECHOFORM_ADDRESS_SANITIZER || ECHOFORM_THREAD_SANITIZER ? 20 : 80;  // a child process each; the fuzzers go on
  for (unsigned round = 0; round < rounds; ++round) {
    auto bytes = whole;
    for (unsigned change = 0; change < 1 + random() % 6; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random() % 4 == 0 ? 0xff : random());
    }
    save(file_, bytes);
    const auto error = error_now();  // anything but success or an InputError ends the test
    if (error.empty()) continue;
    ++refused;
    ASSERT_THAT(error, HasSubstr(file_.string()));
  }
  EXPECT_GT(refused, rounds / 3);
}

TEST_F(Mfmc, PrintsNothingOfItsOwn) {
  ::testing::internal::CaptureStderr();
  MfmcMaker maker;
  maker.without = "TIME_STEP";
  static_cast<void>(error_of(maker));
  save(file_, {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 9, 9, 9});
  EXPECT_THAT(error_now(), HasSubstr("cannot open"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace echoform::test
