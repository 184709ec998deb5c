#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BrainMatWriterOf : public ::testing::TestWithParam<MatrixKind> {};

TEST_P(BrainMatWriterOf, IsReadBackAsItWasWritten) {
  const Scratch scratch;
  const auto path = scratch / "one.mat";
  Acquisition a;
  a.probe = make_linear_probe(3, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  for (Element& element : a.probe.elements) {
    element.centre.z = Metres(-1e-3);
    element.length = Metres(12e-3);
  }
  a.matrix = GetParam();
  a.samples = 7;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(-1e-6);
  a.time_offset = Seconds(0.25e-6);
  a.sample_scale = 0.125;
  std::vector<std::int16_t> counts(a.a_scans() * a.samples);
  for (std::size_t n = 0; n < counts.size(); ++n) counts[n] = static_cast<std::int16_t>(997 * n - 20'000);
  const auto writer = make_frame_writer(path, a, {.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}});
  EXPECT_EQ(input_error([&] { writer->append(std::as_bytes(std::span(counts))); }), "");
  EXPECT_FALSE(std::filesystem::exists(path)) << "it appears whole";
  EXPECT_THAT(input_error([&] { writer->append(std::as_bytes(std::span(counts))); }), HasSubstr("found a second frame"));
  writer->close();
  writer->close();
  EXPECT_EQ(scratch.files(), 1U);

  const auto recording = open_recording(path);
  const Acquisition& found = recording->acquisition();
  EXPECT_EQ(found.matrix, a.matrix);
  EXPECT_EQ(found.samples, a.samples);
  EXPECT_NEAR(found.sample_rate.value, 40e6, 1e-6);
  EXPECT_NEAR(found.start_time.value, -1.25e-6, 1e-18);
  EXPECT_EQ(recording->material().longitudinal_velocity.value, 6320.0);
  EXPECT_EQ(found.probe.centre_frequency, a.probe.centre_frequency);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.probe.elements[i].centre, a.probe.elements[i].centre);
    EXPECT_NEAR(found.probe.elements[i].width.value, 0.5e-3, 1e-15);
    EXPECT_NEAR(found.probe.elements[i].length.value, 12e-3, 1e-15);
  }
  std::vector<float> samples(counts.size());
  recording->read_frame(0, samples);
  for (std::size_t n = 0; n < counts.size(); ++n) ASSERT_EQ(samples[n], 0.125F * static_cast<float>(counts[n])) << n;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, BrainMatWriterOf, ::testing::Values(MatrixKind::full, MatrixKind::half));

TEST(FrameWriters, RefuseWhatTheyCannotHold) {
  const Scratch scratch;
  Acquisition a;
  a.probe = make_linear_probe(2, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.matrix = MatrixKind::half_summed;
  a.samples = 4;
  a.sample_rate = Hertz(40e6);
  const auto line = [&](const char* name) {
    return input_error([&] { static_cast<void>(make_frame_writer(scratch / name, a)); });
  };
  EXPECT_THAT(line("x.mat"), HasSubstr("matrix half_summed"));
  EXPECT_THAT(line("x.mfmc"), HasSubstr("matrix half_summed"));
  a.matrix = MatrixKind::full;
  a.events = {{PassiveEvent{Metres(750e-9)}, {}}};
  EXPECT_THAT(line("x.mat"), AllOf(HasSubstr("x.mat: found passive events"), HasSubstr("cannot say that nobody does")));
  EXPECT_THAT(line("x.mfmc"), AllOf(HasSubstr("x.mfmc: found passive events"), HasSubstr("cannot say that nobody does")));
  EXPECT_EQ(scratch.files(), 0U);
  a.events = element_events(std::vector<std::uint32_t>{1, 0});
  a.events[1].receivers = {1};
  EXPECT_THAT(line("x.mat"), HasSubstr("events whose receivers would be read back as an incomplete matrix"));
  EXPECT_THAT(line("x.onde"), HasSubstr("events whose receivers would be read back as an incomplete matrix"));
  EXPECT_EQ(line("x.mfmc"), "");
  EXPECT_EQ(line("x.efcap"), "");
  EXPECT_EQ(scratch.files(), 0U) << "without a frame there is no file";
  save(scratch / "x.efcap", {1});
  EXPECT_THAT(line("x.efcap"), HasSubstr("there already"));
  EXPECT_THAT(line("x.npy"), HasSubstr("expected a file that ends in .mfmc, .efcap, .mat, .hdf5"));
  a.probe.elements[1].width = Metres(0.4e-3);
  EXPECT_THAT(line("y.efcap"), HasSubstr("elements of different sizes"));
  Acquisition wide = a;
  wide.probe = make_linear_probe(1024, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  std::vector<std::uint32_t> turned(1024);
  std::iota(turned.rbegin(), turned.rend(), 0U);
  wide.events = element_events(turned);
  for (TransmitEvent& event : wide.events) event.receivers = turned;
  EXPECT_THAT(input_error([&] { static_cast<void>(make_frame_writer(scratch / "y.efcap", wide)); }),
              AllOf(HasSubstr("y.efcap"), HasSubstr("Hello events: found ")));
  a.events.clear();
  a.samples = std::size_t{1} << 26;
  EXPECT_THAT(line("y.mat"), HasSubstr("less than 2 GiB"));
  EXPECT_EQ(scratch.files(), 1U);
}

}  // namespace
}  // namespace echoform::test
