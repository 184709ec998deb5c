// Transmit events in MFMC files: laws of several elements, out and in.
#include <gmock/gmock.h>
#include <hdf5.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "formats/frame_writer.hpp"
#include "formats/mfmc_check.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/every_form.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t elements = 8;

Acquisition acquisition_of(std::vector<TransmitEvent> events) {
  Acquisition a;
  a.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.events = std::move(events);
  a.samples = 9;
  a.sample_rate = Hertz(40e6);
  return a;
}

std::vector<TransmitEvent> of_forms(const std::vector<TransmitForm>& forms) {
  std::vector<TransmitEvent> events;
  for (const TransmitForm& form : forms) events.push_back({form, {}});
  return events;
}

std::vector<std::byte> counted_frame(const Acquisition& a) {
  std::vector<std::int16_t> counts(a.a_scans() * a.samples);
  std::iota(counts.begin(), counts.end(), std::int16_t{-300});
  std::vector<std::byte> bytes(counts.size() * sizeof(std::int16_t));
  std::memcpy(bytes.data(), counts.data(), bytes.size());
  return bytes;
}

class MfmcEvents : public ::testing::Test {
 protected:
  std::unique_ptr<Recording> written(const Acquisition& a) {
    std::filesystem::remove(file_);
    const auto writer = make_frame_writer(file_, a);
    writer->append(counted_frame(a));
    writer->close();
    EXPECT_THAT(check_mfmc(file_).violations, IsEmpty());
    return open_recording(file_);
  }

  /// The rows, receivers and firings of `a` come back: delays within a nanosecond, as far as the format's readers tell them
  /// apart.
  Acquisition expect_back(const Acquisition& a) {
    const auto recording = written(a);
    const Acquisition found = recording->stored();
    EXPECT_EQ(FrameLayout(found), FrameLayout(a));
    for (std::size_t event = 0; event < a.events.size(); ++event) {
      const auto there = firings_of(a, event);
      const auto back = firings_of(found, event);
      EXPECT_EQ(back.size(), there.size()) << event;
      for (std::size_t k = 0; k < std::min(back.size(), there.size()); ++k) {
        EXPECT_EQ(back[k].element, there[k].element) << event;
        EXPECT_NEAR(back[k].delay, there[k].delay, 1e-12) << event;  // those of a few microseconds in single precision
        EXPECT_EQ(back[k].weight, there[k].weight) << event;
      }
    }
    std::vector<std::byte> bytes(found.frame_bytes());
    recording->read_stored(0, bytes);
    EXPECT_EQ(bytes, counted_frame(a));
    return found;
  }

  template <class Change>
  void change(Change&& change) {
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    change(file);
    H5Fclose(file);
  }

  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "r.mfmc";
};

TEST_F(MfmcEvents, PlaneWavesStayPlaneWaves) {
  PlaneWaveEvent first = plane_wave(-0.3, MetresPerSecond(6320.0));
  PlaneWaveEvent middle = plane_wave(0.0, MetresPerSecond(6320.0));
  middle.delay = Seconds(1e-6);
  PlaneWaveEvent some = plane_wave(0.2, MetresPerSecond(6320.0));
  some.elements = {6, 1, 2};
  const Acquisition a = acquisition_of(of_forms({first, middle, some}));
  const Acquisition found = expect_back(a);
  const auto form = [&](std::size_t event) { return std::get<PlaneWaveEvent>(found.events[event].form); };
  // What was left to the layout is stated: the earliest element fires at 0.
  first.delay = delay_at_origin(first, a.probe, frame_of(a.probe));
  some.delay = delay_at_origin(some, a.probe, frame_of(a.probe));
  EXPECT_EQ(form(0), first);
  EXPECT_EQ(form(1), middle);
  EXPECT_EQ(form(2), some);
}

TEST_F(MfmcEvents, PointWavesStayPointWaves) {
  const PointWaveEvent source{{Metres(1e-3), Metres(0.0), Metres(-5e-3)}, MetresPerSecond(1480.0), Seconds(2e-6)};
  const PointWaveEvent focus{{Metres(-1e-3), Metres(0.0), Metres(15e-3)}, MetresPerSecond(6320.0), Seconds(3e-6), {0, 1, 2, 3}};
  const Acquisition found = expect_back(acquisition_of(of_forms({source, focus})));
  EXPECT_EQ(std::get<PointWaveEvent>(found.events[0].form), source);
  EXPECT_EQ(std::get<PointWaveEvent>(found.events[1].form), focus);
}

TEST_F(MfmcEvents, LawsKeepElementsDelaysAndWeights) {
  const Acquisition a =
      acquisition_of(of_forms({LawEvent{{7, 0, 3}, {0.0F, 1.5e-6F, -2e-7F}, {0.25F, 2.0F, 1.0F}}, LawEvent{{2}, {1e-6F}, {}},
                               LawEvent{{2, 1}, {}, {3.0F, 0.5F}}, ElementEvent{5}}));
  EXPECT_EQ(expect_back(a).events, a.events);
}

TEST_F(MfmcEvents, EventsThatSayTheSameStayApart) {
  const LawEvent law{{0, 1, 2}};
  const Acquisition a = acquisition_of(of_forms({law, ElementEvent{4}, law}));
  EXPECT_EQ(expect_back(a).events, a.events);
}

TEST_F(MfmcEvents, ReceiversOfEachEventStayInTheirOrder) {
  const Acquisition a =
      acquisition_of({{plane_wave(0.1, MetresPerSecond(6320.0)), {3, 1}}, {ElementEvent{2}, {}}, {ElementEvent{6}, {5}}});
  const Acquisition found = expect_back(a);
  EXPECT_THAT(found.events[0].receivers, ElementsAre(3, 1));
  EXPECT_EQ(found.events[1], a.events[1]);
  EXPECT_EQ(found.events[2], a.events[2]);
}

TEST_F(MfmcEvents, SparseReceptionsOfElementsAreNoMatrixWithHoles) {
  std::vector<TransmitEvent> events = element_events(std::vector<std::uint32_t>{0, 4});
  for (TransmitEvent& event : events) event.receivers = {1, 2};
  EXPECT_EQ(expect_back(acquisition_of(events)).events, events);
}

TEST_F(MfmcEvents, CodesStayCodes) {
  const Acquisition a = acquisition_of(hadamard_events(elements));
  EXPECT_EQ(expect_back(a).events, a.events);
  // An S-matrix: nobody is inverted.
  std::vector<TransmitEvent> rows;
  for (const std::vector<std::int8_t>& signs :
       {std::vector<std::int8_t>{1, 0, 1, 0, 0, 0, 0, 0}, {0, 1, 1, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0, 0, 0}}) {
    rows.push_back({CodeEvent{signs}, {}});
  }
  EXPECT_EQ(expect_back(acquisition_of(rows)).events, rows);
}

TEST_F(MfmcEvents, RowsOfACodeAreKnownByTheirSignsWhereNobodySaysSo) {
  const Acquisition a = acquisition_of(hadamard_events(elements));
  written(a);
  change([](hid_t file) {
    for (std::size_t event = 1; event <= elements; ++event) {
      EXPECT_GE(H5Adelete_by_name(file, ("/LAWS/T" + std::to_string(event)).c_str(), "ECHOFORM_CODE", H5P_DEFAULT), 0);
    }
    EXPECT_GE(H5Adelete_by_name(file, "/SEQUENCES/S1", "ECHOFORM_EVENTS", H5P_DEFAULT), 0);
  });
  EXPECT_EQ(open_recording(file_)->acquisition().events, a.events);
}

/// Rows of ones and zeros, without delays, as somebody else's file has them: no attribute says what they are.
std::vector<TransmitEvent> rows_of_ones(const std::vector<std::vector<std::uint32_t>>& rows) {
  std::vector<TransmitEvent> events;
  for (const auto& row : rows) events.push_back({LawEvent{row}, {}});
  return events;
}

TEST_F(MfmcEvents, AnSMatrixIsACodeWhereNobodySaysSo) {
  const auto foreign = [&](const std::vector<TransmitEvent>& events) {
    written(acquisition_of(events));
    change([](hid_t file) { EXPECT_GE(H5Adelete_by_name(file, "/SEQUENCES/S1", "ECHOFORM_EVENTS", H5P_DEFAULT), 0); });
    return open_recording(file_);
  };
  // The S-matrix of seven: where the Hadamard matrix of eight has -1, without its first row and column.
  const std::vector<std::vector<std::uint32_t>> s_matrix = {{0, 2, 4, 6}, {1, 2, 5, 6}, {0, 1, 4, 5}, {3, 4, 5, 6},
                                                            {0, 2, 3, 5}, {1, 2, 3, 4}, {0, 1, 3, 6}};
  const auto coded = foreign(rows_of_ones(s_matrix));
  std::vector<TransmitEvent> wanted;
  for (const auto& row : s_matrix) {
    CodeEvent code{std::vector<std::int8_t>(elements)};
    for (const std::uint32_t element : row) code.signs[element] = 1;
    wanted.push_back({code, {}});
  }
  EXPECT_EQ(coded->acquisition().events, wanted);
  EXPECT_THAT(coded->describe(), HasSubstr("are rows of a code"));

  // One law of all elements is a plane wave, also if it is fired eight times.
  EXPECT_EQ(foreign(rows_of_ones({{0, 1, 2, 3, 4, 5, 6, 7}}))->acquisition().events, rows_of_ones({{0, 1, 2, 3, 4, 5, 6, 7}}));
  const std::vector<std::vector<std::uint32_t>> again(elements, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(foreign(rows_of_ones(again))->acquisition().events, rows_of_ones(again));
  // Apertures of four that walk, cut off at the ends: elements are their differences, with more noise than by themselves.
  const std::vector<std::vector<std::uint32_t>> walking = {{0, 1},       {0, 1, 2},    {0, 1, 2, 3}, {1, 2, 3, 4},
                                                           {2, 3, 4, 5}, {3, 4, 5, 6}, {4, 5, 6, 7}, {5, 6, 7}};
  EXPECT_EQ(foreign(rows_of_ones(walking))->acquisition().events, rows_of_ones(walking));
  // Fewer laws than elements fire.
  const std::vector<std::vector<std::uint32_t>> few(s_matrix.begin(), s_matrix.end() - 1);
  EXPECT_EQ(foreign(rows_of_ones(few))->acquisition().events, rows_of_ones(few));
  // Who says what its events are is believed.
  written(acquisition_of(rows_of_ones(s_matrix)));
  EXPECT_EQ(open_recording(file_)->acquisition().events, rows_of_ones(s_matrix));
}

TEST_F(MfmcEvents, DelaysCountWhereTheyAreNotThoseOfTheStatedWave) {
  const Acquisition a =
      acquisition_of(of_forms({plane_wave(0.3, MetresPerSecond(6320.0)), plane_wave(0.1, MetresPerSecond(6320.0))}));
  written(a);
  std::array<double, elements> delays{};
  change([&](hid_t file) {
    const hid_t set = H5Dopen2(file, "/LAWS/T2/DELAY", H5P_DEFAULT);
    EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, delays.data()), 0);
    delays[3] += 5e-9;
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, delays.data()), 0);
    H5Dclose(set);
  });
  const auto recording = open_recording(file_);
  EXPECT_TRUE(std::holds_alternative<PlaneWaveEvent>(recording->acquisition().events[0].form));
  const auto law = std::get<LawEvent>(recording->acquisition().events[1].form);
  ASSERT_EQ(law.delays.size(), elements);
  for (std::size_t k = 0; k < elements; ++k) EXPECT_EQ(law.delays[k], static_cast<float>(delays[k]));
  EXPECT_THAT(recording->describe(), HasSubstr("1 transmit laws are not the waves that they are said to be: their delays count"));
}

TEST_F(MfmcEvents, ALawThatIsFiredAgainIsAnotherEvent) {
  // Every A-scan has one transmit law, of all elements, and each receiver comes up four times.
  MfmcMaker maker;
  maker.plane_waves = true;
  maker.write(file_);
  const auto recording = open_recording(file_);
  const Acquisition& a = recording->acquisition();
  EXPECT_EQ(a.events, of_forms({LawEvent{{0, 1, 2, 3}}, LawEvent{{0, 1, 2, 3}}, LawEvent{{0, 1, 2, 3}}, LawEvent{{0, 1, 2, 3}}}));
  std::vector<float> samples(a.a_scans() * a.samples);
  recording->read_frame(0, samples);
  for (std::size_t event = 0; event < 4; ++event) {
    for (std::size_t receiver = 0; receiver < 4; ++receiver) {
      EXPECT_EQ(samples[(event * 4 + receiver) * a.samples + 2], MfmcMaker::mfmc_sample(0, event, receiver, 2));
    }
  }
}

TEST_F(MfmcEvents, RefusesMoreEventsThanItMayHave) {
  MfmcMaker maker;
  maker.plane_waves = true;
  maker.write(file_);
  RecordingOptions options;
  options.limits.events = 3;
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_, options)); }),
              AllOf(HasSubstr("TRANSMIT_LAW, RECEIVE_LAW: found more transmit events than that"), HasSubstr("at most 3")));
}

TEST_F(MfmcEvents, RefusesElementsThatTheProbeDoesNotHave) {
  MfmcMaker maker;
  maker.plane_waves = true;
  maker.element_offset = 1;
  maker.write(file_);
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_)); }),
              HasSubstr("A-scan 1 transmits with element 5; expected elements 1 to 4"));
}

TEST_F(MfmcEvents, MatFilesRefuseEventsOfSeveralElements) {
  const auto place = scratch_ / "r.mat";
  EXPECT_EQ(input_error([&] {
              static_cast<void>(make_frame_writer(place, acquisition_of(of_forms({LawEvent{{0, 1}}}))));
            }),
            place.string() +
                ": found events in which several elements fire; expected one element an event (.mfmc and .efcap hold others)");
}

TEST_F(MfmcEvents, KeepThePositionsAtWhichTheyAreFired) {
  const Acquisition a = testing_support::acquisition_of_positions(9);
  const Acquisition found = expect_back(a);
  ASSERT_EQ(found.positions.size(), a.positions.size());
  for (std::size_t k = 0; k < a.positions.size(); ++k) {
    const Pose& one = found.positions[k];
    const Pose& other = a.positions[k];
    EXPECT_EQ(one.origin, other.origin);
    for (const auto& [direction, expected] : {std::pair{one.x, other.x}, std::pair{one.y, other.y}}) {
      EXPECT_NEAR(direction.x, expected.x, 1e-15);
      EXPECT_NEAR(direction.y, expected.y, 1e-15);
      EXPECT_NEAR(direction.z, expected.z, 1e-15);
    }
  }
  for (std::size_t event = 0; event < a.events.size(); ++event) {
    EXPECT_EQ(found.events[event].position, a.events[event].position) << event;
  }
  EXPECT_EQ(found.probe.elements.size(), a.probe.elements.size());
  EXPECT_NEAR(found.probe.elements[0].centre.x.value, a.probe.elements[0].centre.x.value, 1e-15) << "in the probe's coordinates";
  RecordingOptions least;
  least.limits.positions = 2;
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_, least)); }),
              HasSubstr("PROBE_PLACEMENT_INDEX: found more positions of the probe within a frame than that; expected at most 2"));
  // Of a position whose probe looks away from the part.
  change([](hid_t file) {
    const hid_t set = H5Dopen2(file, "/SEQUENCES/S1/PROBE_Y_DIRECTION", H5P_DEFAULT);
    const std::array<double, 9> values{0, 1, 0, 0.8, -0.6, 0, 0, 1, 0};
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
  });
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(file_)); }),
              AllOf(HasSubstr("placement 2"), HasSubstr("emission")));
}

TEST_F(MfmcEvents, PositionsKeepTheirNumbersWhicheverIsFiredFirst) {
  Acquisition a = testing_support::acquisition_of_positions(9);
  std::rotate(a.events.begin(), a.events.begin() + 2, a.events.end());
  ASSERT_NE(a.events.front().position, 0U);
  const Acquisition found = expect_back(a);
  ASSERT_EQ(found.positions.size(), a.positions.size());
  for (std::size_t k = 0; k < a.positions.size(); ++k) EXPECT_EQ(found.positions[k].origin, a.positions[k].origin) << k;
  for (std::size_t event = 0; event < a.events.size(); ++event) {
    EXPECT_EQ(found.events[event].position, a.events[event].position) << event;
  }
}

}  // namespace
}  // namespace echoform::test
