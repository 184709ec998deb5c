// IPASC files: what the writer makes comes back, and what files leave open or state wrongly. tests/system/ipasc_test.py reads and
// makes them by h5py alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "acquisition/detectors.hpp"
#include "acquisition/frame_layout.hpp"
#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/every_form.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Of a ring of five, one of which is dead, that faces its middle.
Acquisition ring_of_five(SampleEncoding encoding) {
  Acquisition acquisition = testing_support::acquisition_of_elements(5, 7);
  for (std::size_t k = 0; k < 5; ++k) {
    Element& element = acquisition.probe.elements[k];
    const double angle = 1.25 * static_cast<double>(k);
    element.centre = {Metres(0.04 * std::cos(angle)), Metres(1e-3), Metres(0.04 * std::sin(angle))};
    element.normal = {-std::cos(angle), 0.0, -std::sin(angle)};
    element.length = Metres(0.01);
  }
  acquisition.probe.elements[3].dead = true;
  acquisition.encoding = encoding;
  acquisition.events = {{PassiveEvent{Metres(700e-9), 0.011}, {}}, {PassiveEvent{Metres(850e-9), 0.012}, {}}};
  return acquisition;
}

/// Sample n of row k of a frame, which every encoding holds.
double passive_value(std::uint64_t frame, std::size_t row, std::size_t n) {
  return static_cast<double>(100 * frame + 10 * row + n) - 60.0;
}

std::vector<std::byte> passive_frame(const Acquisition& a, std::uint64_t frame) {
  std::vector<std::byte> bytes(a.frame_bytes());
  for (std::size_t row = 0; row < a.a_scans(); ++row) {
    for (std::size_t n = 0; n < a.samples; ++n) {
      std::byte* const to = bytes.data() + row * a.bytes_per_a_scan();
      const double value = passive_value(frame, row, n);
      if (a.encoding == SampleEncoding::float32) {
        const auto sample = static_cast<float>(value);
        std::memcpy(to + n * sizeof sample, &sample, sizeof sample);
      } else if (a.encoding == SampleEncoding::int16) {
        const auto sample = static_cast<std::int16_t>(value);
        std::memcpy(to + n * sizeof sample, &sample, sizeof sample);
      } else {
        const auto bits = static_cast<unsigned>(static_cast<int>(value)) & 0xFFFU;
        std::byte* const pair = to + n / 2 * 3;
        if (n % 2 == 0) {
          pair[0] = static_cast<std::byte>(bits);
          pair[1] = static_cast<std::byte>(bits >> 8);
        } else {
          pair[1] |= static_cast<std::byte>(bits << 4);
          pair[2] = static_cast<std::byte>(bits >> 4);
        }
      }
    }
  }
  return bytes;
}

void write_passive(const std::filesystem::path& path, const Acquisition& a, std::uint64_t frames,
                   const FrameWriterOptions& options = {}) {
  const auto writer = make_frame_writer(path, a, options);
  for (std::uint64_t frame = 0; frame < frames; ++frame)
    writer->append(passive_frame(a, frame),
                   {.sequence = frame,
                    .acquisition_time = WallTime(1'700'000'000'000'000'000 + 50'000'000 * static_cast<std::int64_t>(frame))});
  EXPECT_EQ(writer->frames(), frames);
  writer->close();
}

class IpascFilesOf : public ::testing::TestWithParam<SampleEncoding> {};

TEST_P(IpascFilesOf, ComeBackAsTheyWereWritten) {
  const Scratch scratch;
  const auto path = scratch / "ring.ipasc.hdf5";
  const Acquisition a = ring_of_five(GetParam());
  write_passive(path, a, 3, {.material = {MetresPerSecond(1510.0), {}}});
  const auto recording = open_recording(path);
  ASSERT_EQ(recording->frames(), 3U);
  Acquisition expected = a;
  expected.encoding = SampleEncoding::float32;
  expected.probe.centre_frequency = expected.probe.bandwidth = Hertz(0.0);  // for which there is no word
  const Acquisition& found = recording->acquisition();
  for (std::size_t k = 0; k < 5; ++k) {  // normals are made of length 1 anew, to rounding
    EXPECT_NEAR(found.probe.elements[k].normal.x, a.probe.elements[k].normal.x, 1e-15);
    EXPECT_NEAR(found.probe.elements[k].normal.z, a.probe.elements[k].normal.z, 1e-15);
    expected.probe.elements[k].normal = found.probe.elements[k].normal;
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(recording->stored().encoding,
            GetParam() == SampleEncoding::float32 ? SampleEncoding::float32 : SampleEncoding::int16);
  EXPECT_EQ(recording->material().longitudinal_velocity.value, 1510.0);
  EXPECT_THAT(recording->warnings(), ElementsAre());
  std::vector<float> samples(a.a_scans() * a.samples);
  for (std::uint64_t frame = 0; frame < 3; ++frame) {
    recording->read_frame(frame, samples);
    for (std::size_t k = 0; k < samples.size(); ++k)
      ASSERT_EQ(samples[k], static_cast<float>(passive_value(frame, k / a.samples, k % a.samples))) << frame << ", " << k;
    // Seconds as doubles tell some 0.2 us apart.
    EXPECT_NEAR(static_cast<double>(recording->stamp(frame).acquisition_time.count() - 1'700'000'000'000'000'000),
                5e7 * static_cast<double>(frame), 500.0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IpascFilesOf,
                         ::testing::Values(SampleEncoding::int16, SampleEncoding::packed12, SampleEncoding::float32));

TEST(IpascFiles, HoldAmplitudesOfCountsWithAScale) {
  const Scratch scratch;
  Acquisition a = ring_of_five(SampleEncoding::int16);
  a.sample_scale = 0.25;
  write_passive(scratch / "scaled.hdf5", a, 1);
  const auto recording = open_recording(scratch / "scaled.hdf5");
  EXPECT_EQ(recording->stored().encoding, SampleEncoding::float32);
  std::vector<float> samples(a.a_scans() * a.samples);
  recording->read_frame(0, samples);
  for (std::size_t k = 0; k < samples.size(); ++k)
    ASSERT_EQ(samples[k], 0.25F * static_cast<float>(passive_value(0, k / a.samples, k % a.samples)));
}

/// An arc at three positions, as a turntable has it: its rows and detectors are there, one position after the other.
TEST(IpascFiles, HaveTheDetectorsOfAllPositions) {
  const Scratch scratch;
  Acquisition a = ring_of_five(SampleEncoding::float32);
  for (Element& element : a.probe.elements) element.length = element.width;
  a.events.clear();
  for (std::uint32_t k = 0; k < 3; ++k) {
    const double angle = 0.7 * k;
    a.positions.push_back({{}, {std::cos(angle), std::sin(angle), 0.0}, {-std::sin(angle), std::cos(angle), 0.0}});
  }
  for (const double wavelength : {700e-9, 850e-9}) {
    for (const std::uint32_t position : {2U, 0U, 1U}) a.events.push_back({PassiveEvent{Metres(wavelength)}, {4, 2, 0}, position});
  }
  write_passive(scratch / "arc.hdf5", a, 2);
  const auto recording = open_recording(scratch / "arc.hdf5");
  const Acquisition& found = recording->acquisition();
  ASSERT_EQ(found.elements(), 9U);
  ASSERT_EQ(found.events.size(), 2U);
  const std::vector<Detector> wanted = detectors_of(a);
  const std::vector<Detector> read = detectors_of(found);
  std::vector<float> samples(found.a_scans() * found.samples);
  recording->read_frame(1, samples);
  // Rows of the frame by position 0, 1, 2 and element 0, 2, 4.
  const std::array<std::size_t, 9> rows{5, 4, 3, 8, 7, 6, 2, 1, 0};
  for (std::size_t k = 0; k < 18; ++k) {
    const std::size_t row = rows[k % 9] + k / 9 * 9;
    EXPECT_NEAR(read[k].centre.x.value, wanted[row].centre.x.value, 1e-15) << k;
    EXPECT_NEAR(read[k].centre.y.value, wanted[row].centre.y.value, 1e-15) << k;
    EXPECT_NEAR(read[k].normal.y, wanted[row].normal.y, 1e-15) << k;
    for (std::size_t n = 0; n < a.samples; ++n)
      ASSERT_EQ(samples[k * a.samples + n], static_cast<float>(passive_value(1, row, n)));
  }
}

TEST(IpascFiles, OfRectanglesAlongTheOtherAxisHaveTheirSidesSwapped) {
  const Scratch scratch;
  Acquisition a = testing_support::acquisition_of_elements(2, 4);
  a.positions = {{}, {{}, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}}};
  for (Element& element : a.probe.elements) element.length = Metres(9e-3);
  a.events = {{PassiveEvent{}, {0}, 0}, {PassiveEvent{}, {0}, 1}};
  write_passive(scratch / "turned.hdf5", a, 1);
  const auto elements = open_recording(scratch / "turned.hdf5")->acquisition().probe.elements;
  EXPECT_EQ(elements[0].length.value, 9e-3);
  EXPECT_EQ(elements[1].width.value, 9e-3);
  a.positions[1] = {{}, {0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}};
  EXPECT_THAT(input_error([&] { static_cast<void>(make_frame_writer(scratch / "x.hdf5", a)); }),
              HasSubstr("x.hdf5: found detector 1, a rectangle turned about what it faces"));
  EXPECT_EQ(scratch.files(), 1U);
}

TEST(IpascFiles, RefuseWhatTheyCannotHold) {
  const Scratch scratch;
  const auto line = [&](const Acquisition& a) {
    return input_error([&] { static_cast<void>(make_frame_writer(scratch / "x.hdf5", a)); });
  };
  EXPECT_THAT(line(testing_support::acquisition_of_waves(9)),
              HasSubstr("x.hdf5: found events that transmit; expected passive events"));
  EXPECT_THAT(line(testing_support::acquisition_of_elements(3, 9)), HasSubstr("found events that transmit"));
  EXPECT_THAT(line(testing_support::acquisition_of_passive(9)), HasSubstr("found wavelengths that other detectors record"));
  Acquisition late = ring_of_five(SampleEncoding::int16);
  late.start_time = Seconds(2e-6);
  EXPECT_THAT(line(late), HasSubstr("found samples from 2 us on"));
  late.time_offset = Seconds(2e-6);
  EXPECT_EQ(line(late), "");
  EXPECT_EQ(scratch.files(), 0U) << "without a frame there is no file";
  write_passive(scratch / "x.hdf5", late, 1);
  EXPECT_THAT(line(late), HasSubstr("there already"));
}

TEST(Hdf5Recordings, AreToldApartByWhatTheyHold) {
  const Scratch scratch;
  write_passive(scratch / "a.hdf5", ring_of_five(SampleEncoding::int16), 1);
  std::filesystem::rename(scratch / "a.hdf5", scratch / "a.h5");
  EXPECT_THAT(open_recording(scratch / "a.h5")->describe(), HasSubstr("IPASC HDF5"));
  write_passive(scratch / "b.mfmc", testing_support::acquisition_of_elements(3, 9), 1);
  std::filesystem::rename(scratch / "b.mfmc", scratch / "b.h5");
  EXPECT_THAT(open_recording(scratch / "b.h5")->describe(), HasSubstr("MFMC"));
  save(scratch / "c.h5", {1, 2, 3});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(scratch / "c.h5")); }),
              HasSubstr("c.h5: found no HDF5 signature"));
  std::vector<std::uint8_t> bytes = load(scratch / "a.h5");
  bytes.resize(bytes.size() / 2);
  save(scratch / "d.h5", bytes);
  EXPECT_NE(input_error([&] { static_cast<void>(open_recording(scratch / "d.h5")); }), "");
}

}  // namespace
}  // namespace echoform::test
