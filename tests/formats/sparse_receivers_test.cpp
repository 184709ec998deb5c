// Recordings whose events have receivers of their own, as pulse-echo has: A-scans that are not there are neither made up nor
// written, whichever format they come in and go to.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>

#include "acquisition/firings.hpp"
#include "formats/frame_writer.hpp"
#include "formats/recording.hpp"
#include "tests/formats/mfmc_maker.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/places.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t elements = 40;
constexpr std::size_t samples = 600;

/// Every element fires, recorded by itself and those that are `steps` farther on.
Acquisition sparse(const std::vector<std::uint32_t>& steps) {
  Acquisition a;
  a.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
  a.samples = samples;
  a.sample_rate = Hertz(40e6);
  a.start_time = Seconds(2e-6);
  for (std::uint32_t element = 0; element < elements; ++element) {
    a.events.push_back({ElementEvent{element}, {}});
    for (const std::uint32_t step : steps) {
      if (element + step < elements) a.events.back().receivers.push_back(element + step);
    }
  }
  return a;
}

std::vector<std::int16_t> counts_of(const Acquisition& a) {
  std::vector<std::int16_t> counts(a.a_scans() * a.samples);
  for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = static_cast<std::int16_t>(k * 7919 % 4001 - 2000);
  return counts;
}

class SparseReceivers : public ::testing::TestWithParam<const char*> {
 protected:
  Scratch scratch_;
};

TEST_P(SparseReceivers, AreWrittenAndReadAsTheyAre) {
  for (const auto& steps : {std::vector<std::uint32_t>{0}, std::vector<std::uint32_t>{0, 3, 1}}) {
    const Acquisition a = sparse(steps);
    const std::vector<std::int16_t> counts = counts_of(a);
    const auto path = scratch_ / fmt::format("{}{}", steps.size(), GetParam());
    const auto writer = make_frame_writer(path, a, {.material = {MetresPerSecond(6320.0), MetresPerSecond(3130.0)}});
    writer->append(std::as_bytes(std::span(counts)));
    writer->close();
    const auto recording = open_recording(path);
    EXPECT_EQ(recording->acquisition().events, a.events);
    ASSERT_EQ(recording->acquisition().a_scans(), a.a_scans());
    std::vector<float> frame(counts.size());
    recording->read_frame(0, frame);
    for (std::size_t k = 0; k < frame.size(); ++k) ASSERT_EQ(frame[k], static_cast<float>(counts[k])) << k;
    EXPECT_THAT(recording->describe(), Not(HasSubstr("missing")));
    if (steps.size() == 1) {
      EXPECT_THAT(recording->describe(), HasSubstr("40 elements, pulse-echo, 40 A-scans"));
    }
    // Amplitudes of .mat are float64, four times the counts; laws of HDF5 files are groups of their own, of 4 to 8 KiB. Filled up
    // with zeros a frame would be 820 A-scans, 1 MB.
    const std::size_t of_counts = counts.size() * sizeof(std::int16_t);
    EXPECT_LT(std::filesystem::file_size(path), (std::string(GetParam()) == ".mat" ? 4 : 1) * of_counts + 80 * 8192);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, SparseReceivers, ::testing::Values(".mfmc", ".onde", ".mat", ".efcap"),
                         [](const auto& format) { return std::string(format.param).substr(1); });

TEST(SparseReceiversOf, AForeignMfmcFileArePulseEcho) {
  const Scratch scratch;
  MfmcMaker maker;
  maker.elements = 9;
  for (std::size_t k = 9; k-- > 0;) maker.pairs.emplace_back(k, k);  // the last first
  maker.write(scratch / "echo.mfmc");
  const auto recording = open_recording(scratch / "echo.mfmc");
  const Acquisition& a = recording->acquisition();
  EXPECT_TRUE(is_pulse_echo(a.events));
  EXPECT_EQ(a.events.front(), (TransmitEvent{ElementEvent{8}, {8}}));
  EXPECT_EQ(a.a_scans(), 9U);
  std::vector<float> frame(9 * a.samples);
  recording->read_frame(0, frame);
  EXPECT_EQ(frame[0], static_cast<float>(MfmcMaker::mfmc_sample(0, 8, 8, 0)));
  EXPECT_EQ(frame[8 * a.samples + 1], static_cast<float>(MfmcMaker::mfmc_sample(0, 0, 0, 1)));
}

TEST(SparseReceiversOf, AFullMatrixOfSomeElementsAreEvents) {
  // Elements 2 to 5 of 9, which is all that was recorded.
  const Scratch scratch;
  MfmcMaker maker;
  maker.elements = 9;
  for (std::size_t i = 2; i < 6; ++i) {
    for (std::size_t j = 2; j < 6; ++j) maker.pairs.emplace_back(i, j);
  }
  maker.write(scratch / "some.mfmc");
  const auto recording = open_recording(scratch / "some.mfmc");
  EXPECT_EQ(recording->acquisition().a_scans(), 16U);
  EXPECT_EQ(recording->acquisition().events[1], (TransmitEvent{ElementEvent{3}, {2, 3, 4, 5}}));
  EXPECT_THAT(recording->describe(), HasSubstr("events have receivers of their own"));
}

TEST(SparseReceiversOf, TheCaseOfPulseEchoAre) {
  const auto path = data_directory().parent_path() / "cases" / "pulse_echo.mfmc";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto recording = open_recording(path);
  EXPECT_TRUE(is_pulse_echo(recording->acquisition().events));
  EXPECT_EQ(recording->acquisition().a_scans(), 300U);
  EXPECT_EQ(recording->stored().frame_bytes(), 300U * 2000U * 2U);
  const Scratch scratch;
  const Acquisition stored = recording->stored();
  std::vector<std::byte> frame(stored.frame_bytes());
  recording->read_stored(0, frame);
  const auto writer = make_frame_writer(scratch / "again.mfmc", stored, {.material = recording->material()});
  writer->append(frame);
  writer->close();
  EXPECT_LE(std::filesystem::file_size(scratch / "again.mfmc"), std::filesystem::file_size(path));
}

}  // namespace
}  // namespace echoform::test
