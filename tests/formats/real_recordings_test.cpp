// Real recordings, where they are at hand.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "formats/recording.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/support/places.hpp"

namespace echoform::test {
namespace {

using ::testing::HasSubstr;

struct Expected {
  const char* file;
  std::size_t samples;
  double start_time;
  double pitch;
};

class RealRecording : public ::testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    path_ = data_directory() / GetParam().file;
    if (!std::filesystem::exists(path_))
      GTEST_SKIP() << "no " << path_ << ": set ECHOFORM_DATA_DIR to the folder of real recordings";
  }
  std::filesystem::path path_;
};

TEST_P(RealRecording, IsReadWhole) {
  const auto recording = open_recording(path_);
  const Acquisition& a = recording->acquisition();
  EXPECT_EQ(a.elements(), 64u);
  EXPECT_EQ(a.matrix, MatrixKind::half);
  EXPECT_EQ(a.a_scans(), 2080u);
  EXPECT_EQ(a.samples, GetParam().samples);
  EXPECT_NEAR(a.sample_rate.value, 25e6, 1.0);
  EXPECT_NEAR(a.start_time.value, GetParam().start_time, 1e-12);
  EXPECT_EQ(a.probe.centre_frequency.value, 5e6);
  EXPECT_EQ(recording->material().longitudinal_velocity.value, 6300.0);
  for (std::size_t i = 0; i < 64; ++i) {
    // The files keep positions to about a nanometre.
    EXPECT_NEAR(a.probe.elements[i].centre.x.value, GetParam().pitch * (static_cast<double>(i) - 31.5), 1e-8);
    EXPECT_EQ(a.probe.elements[i].centre.z.value, 0.0);
    EXPECT_GT(a.probe.elements[i].width.value, 0.5 * GetParam().pitch);
    EXPECT_LT(a.probe.elements[i].width.value, GetParam().pitch);
  }
  EXPECT_THAT(recording->describe(), HasSubstr("64 elements, half matrix"));
}

TEST_P(RealRecording, SamplesAreThoseOfAnIndependentReader) {
  ECHOFORM_REQUIRE_PYTHON("numpy");
  const Scratch scratch;
  const auto recording = open_recording(path_);
  std::vector<float> samples(recording->acquisition().a_scans() * recording->acquisition().samples);
  recording->read_frame(0, samples);
  std::ofstream(scratch / "frame.f32", std::ios::binary)
      .write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(float)));
  EXPECT_EQ(run_python({source_directory() / "tests/formats/compare_frame.py", path_, scratch / "frame.f32"}), 0);
}

TEST_P(RealRecording, IsTheSameAsMfmcFromAnotherWriter) {
  ECHOFORM_REQUIRE_PYTHON("h5py");
  const Scratch scratch;
  const auto mfmc = scratch / "real.mfmc";
  ASSERT_EQ(run_python({source_directory() / "tests/formats/make_mfmc.py", path_, mfmc, "3"}), 0);
  const auto brain = open_recording(path_);
  const auto recording = open_recording(mfmc);
  const Acquisition& a = recording->acquisition();
  const Acquisition& b = brain->acquisition();
  ASSERT_EQ(recording->frames(), 3u);
  ASSERT_EQ(a.matrix, b.matrix);
  ASSERT_EQ(a.samples, b.samples);
  EXPECT_NEAR(a.sample_rate.value, b.sample_rate.value, 1e-6);
  EXPECT_EQ(a.start_time, b.start_time);
  std::vector<float> expected(b.a_scans() * b.samples);
  std::vector<float> found(expected.size());
  brain->read_frame(0, expected);
  for (std::size_t frame : {2u, 0u, 1u}) {
    recording->read_frame(frame, found);
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < found.size(); ++n) {
      // Products with 1, 2 and 3 rounded once, in double and then to float on the way to the file.
      wrong += std::abs(found[n] - static_cast<float>(frame + 1) * expected[n]) > 1e-6F * std::abs(found[n]) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0u) << "frame " << frame;
    for (std::size_t i = 0; i < a.elements(); ++i) {
      EXPECT_NEAR(recording->probe(frame).elements[i].centre.x.value,
                  b.probe.elements[i].centre.x.value + 1e-3 * static_cast<double>(frame), 1e-15);
    }
  }
}

TEST_P(RealRecording, TruncatedCopiesAreRefused) {
  const Scratch scratch;
  const auto whole = load(path_);
  for (std::size_t part = 0; part < 40; ++part) {
    const std::size_t length = whole.size() * part / 40 + part;
    save(scratch / "cut.mat", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(scratch / "cut.mat")); }), HasSubstr("cut.mat")) << length;
  }
  save(scratch / "cut.mat", {whole.begin(), whole.end() - 1});
  EXPECT_THAT(input_error([&] { static_cast<void>(open_recording(scratch / "cut.mat")); }), HasSubstr("truncated or damaged"));
}

INSTANTIATE_TEST_SUITE_P(Brain, RealRecording,
                         ::testing::Values(Expected{"contact_notch_aluminium.mat", 750, 0.0, 0.30e-3},
                                           Expected{"contact_notch_aluminium_300.mat", 300, 5e-6, 0.63e-3}),
                         [](const auto& test) { return test.param.samples == 750 ? "ContactNotch" : "ContactNotch300"; });

}  // namespace
}  // namespace echoform::test
