// Images of a recording by the library: what it refuses, where it stops, and that it says nothing that it was not asked for.
#include "offline/recording_imager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/planning.hpp"
#include "formats/frame_writer.hpp"
#include "methods/filter_settings.hpp"
#include "methods/scan_settings.hpp"
#include "pipeline/scan.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingImagerTest : public testing::Test {
 protected:
  static constexpr std::size_t elements = 8;
  static constexpr std::size_t samples = 512;
  static constexpr std::size_t frames = 3;

  RecordingImagerTest() {
    std::filesystem::create_directories(folder_);
    Acquisition acquisition;
    acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.5e-3), Hertz(5e6), Hertz(3e6));
    acquisition.encoding = SampleEncoding::int16;
    acquisition.samples = samples;
    acquisition.sample_rate = Hertz(50e6);
    const auto writer = make_frame_writer(path_, acquisition);
    std::mt19937 random(1);
    std::vector<std::int16_t> frame(elements * elements * samples);
    for (std::size_t k = 0; k < frames; ++k) {
      for (std::int16_t& sample : frame) sample = static_cast<std::int16_t>(random() % 2001) - 1000;
      writer->append(std::as_bytes(std::span(frame)), {.sequence = k, .position = static_cast<EncoderCount>(k)});
    }
    writer->close();

    configuration_.material.longitudinal_velocity = MetresPerSecond(6320.0);
    configuration_.grid.x = {Metres(-2e-3), Metres(2e-3)};
    configuration_.grid.z = {Metres(4e-3), Metres(10e-3)};
    configuration_.grid.pixels = {17, 13};
    configuration_.imaging.backend = BackendWish::cpu;
    configuration_.imaging.threads = 2;
    section<FilterSection>(configuration_).kind = FilterWish::none;
  }
  ~RecordingImagerTest() override { std::filesystem::remove_all(folder_); }

  static std::vector<float> copy(const RecordingImager& imager) {
    std::vector<float> image(imager.description("LL").grid.pixels());
    imager.copy_envelope("LL", image);
    return image;
  }
  std::vector<float> image_alone(const Configuration& configuration, std::size_t frame) const {
    RecordingImager imager(path_, configuration);
    imager.image(frame);
    return copy(imager);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("echoform-recording-imager-" + std::to_string(::getpid()));
  const std::filesystem::path path_ = folder_ / "noise.mfmc";
  Configuration configuration_;
};

TEST_F(RecordingImagerTest, SeveralLiveBesideEachOther) {
  Configuration slower = configuration_;
  slower.material.longitudinal_velocity = MetresPerSecond(5900.0);
  const auto first = image_alone(configuration_, 2);
  const auto other = image_alone(slower, 0);
  ASSERT_NE(first, other);
  RecordingImager one(path_, configuration_);
  RecordingImager two(path_, slower);
  EXPECT_THAT(one.views(), ElementsAre("LL"));
  EXPECT_EQ(one.recording().frames(), frames);
  two.prepare(0);
  one.image(2);
  two.image(0);
  EXPECT_EQ(copy(one), first) << "the same bits, whoever images besides";
  EXPECT_EQ(copy(two), other);
}

TEST_F(RecordingImagerTest, GroupsMakeTheSameImageAndCanBeStopped) {
  RecordingImagerOptions options;
  options.groups = GroupWish::always;
  RecordingImager imager(path_, configuration_, options);
  std::vector<std::size_t> told;
  imager.image(1, [&](std::size_t bytes) { told.push_back(bytes); });
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), elements * elements * samples * sizeof(std::int16_t));
  EXPECT_THAT(imager.groups_text(), HasSubstr("groups of A-scans"));
  const auto whole = image_alone(configuration_, 1);
  const auto grouped = copy(imager);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    // Sums of 64 float pairs in another order.
    ASSERT_NEAR(grouped[k], whole[k], 64 * 6e-8 * 1000.0) << k;
  }

  std::stop_source stop;
  EXPECT_THROW(imager.image(
                   1, [&](std::size_t /*bytes*/) { stop.request_stop(); }, stop.get_token()),
               PlanningEnded);
  imager.image(1);
  EXPECT_EQ(copy(imager), grouped) << "after it was stopped";
}

TEST_F(RecordingImagerTest, PreparingCanBeStoppedAndBegunAgain) {
  RecordingImager imager(path_, configuration_);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(imager.prepare(0, stop.get_token()), PlanningEnded);
  EXPECT_TRUE(imager.envelope("LL").empty());
  EXPECT_EQ(imager.prepare(0).pixels(), 17U * 13U);
  EXPECT_TRUE(imager.envelope("LL").empty()) << "prepared is not imaged";
  EXPECT_THROW(copy(imager), std::logic_error);
  EXPECT_THROW(imager.image(0, {}, stop.get_token()), PlanningEnded) << "before a frame that is imaged whole";
  imager.image(0);
  EXPECT_EQ(copy(imager), image_alone(configuration_, 0));
}

TEST_F(RecordingImagerTest, SeveralProcessesAreRefusedWhatTheyCannotShare) {
  RecordingImagerOptions options;
  options.processes = 2;
  options.groups = GroupWish::always;
  EXPECT_THAT(test::input_error([&] { RecordingImager imager(path_, configuration_, options); }),
              HasSubstr("processes: found several, and frames by groups; expected one process"));
  options.groups = GroupWish::never;
  options.process = 2;
  EXPECT_THAT(test::input_error([&] { RecordingImager imager(path_, configuration_, options); }),
              HasSubstr("processes: found number 2 of 2"));
}

TEST_F(RecordingImagerTest, SeveralProcessesImagePartsOfOneImage) {
  const std::vector<float> whole = image_alone(configuration_, 0);
  const float most = std::ranges::max(whole);
  std::vector<float> joined;
  for (std::size_t process = 0; process < 3; ++process) {
    RecordingImagerOptions options;
    options.processes = 3;
    options.process = process;
    RecordingImager imager(path_, configuration_, options);
    EXPECT_EQ(imager.prepare(0).z.count, 13U) << "the grid of the whole image";
    imager.image(0);
    EXPECT_LT(imager.description("LL").grid.z.count, 6U);
    const auto part = imager.envelope("LL");
    joined.insert(joined.end(), part.begin(), part.end());
  }
  ASSERT_EQ(joined.size(), whole.size());
  // A gate of its own has another length of the transform: rounding.
  for (std::size_t k = 0; k < whole.size(); ++k) EXPECT_NEAR(joined[k], whole[k], 2e-6F * most) << k;
}

TEST_F(RecordingImagerTest, EveryProcessSaysWhatIsSaidOfTheWholeImage) {
  // The A-scans end above its lower half.
  configuration_.grid.z = {Metres(4e-3), Metres(0.2)};
  const auto said = [&](std::size_t process, std::size_t processes) {
    std::vector<std::string> lines;
    RecordingImagerOptions options;
    options.processes = processes;
    options.process = process;
    options.messages.warning = [&](const std::string& line) { lines.push_back(line); };
    RecordingImager(path_, configuration_, options).prepare(0);
    return lines;
  };
  const std::vector<std::string> of_one = said(0, 1);
  EXPECT_FALSE(of_one.empty());
  for (std::size_t process = 0; process < 2; ++process) EXPECT_EQ(said(process, 2), of_one) << process;
}

TEST_F(RecordingImagerTest, AScanThatIsStoppedRefusesNoPlace) {
  section<ScanSection>(configuration_).path = ScanPath::line;
  section<ScanSection>(configuration_).encoder_step = Metres(0.1e-3);
  RecordingImager imager(path_, configuration_);
  imager.prepare(0);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(imager.image(0, {}, stop.get_token()), PlanningEnded);
  EXPECT_EQ(imager.setup().scan->record->counts().refused, 0U);
  imager.image(0);
  EXPECT_EQ(imager.setup().scan->record->counts().refused, 0U);
  EXPECT_EQ(imager.setup().scan->record->counts().cells, 1U);
}

TEST_F(RecordingImagerTest, WhoeverAsksMayRefuseASetup) {
  RecordingImagerOptions options;
  bool refuse = true;
  options.accept = [&](const ImagingSetup& setup) {
    EXPECT_EQ(setup.method, "tfm");
    if (refuse) throw std::runtime_error("not this one");
  };
  RecordingImager imager(path_, configuration_, options);
  EXPECT_THROW(imager.prepare(0), std::runtime_error);
  EXPECT_THROW(static_cast<void>(imager.setup()), std::logic_error) << "nothing is there yet";
  refuse = false;
  imager.image(0);
  EXPECT_EQ(copy(imager), image_alone(configuration_, 0));
}

TEST_F(RecordingImagerTest, RefusesMemoryOfAnotherSizeAndViewsThatAreNotThere) {
  RecordingImager imager(path_, configuration_);
  imager.image(0);
  std::vector<float> few(7);
  EXPECT_EQ(test::input_error([&] { imager.copy_envelope("LL", few); }),
            "image of the view LL: found memory for 7 pixels; expected 221");
  EXPECT_EQ(test::input_error([&] { imager.copy_envelope("TT", few); }), "view: found \"TT\"; expected one of LL");
  EXPECT_THAT(test::input_error([&] { imager.image(frames); }), HasSubstr("found no frame 3; expected one of 0 to 2"));
  EXPECT_THAT(test::input_error([&] { RecordingImager none(folder_ / "none.mfmc", configuration_); }), HasSubstr("none.mfmc"));
}

TEST_F(RecordingImagerTest, TellsWhoAsksAndNobodyElse) {
  const test::CapturedLog log;
  std::vector<std::string> warnings;
  RecordingImagerOptions options;
  options.messages.warning = [&](const std::string& line) { warnings.push_back(line); };
  Configuration doubtful = configuration_;
  doubtful.material.longitudinal_velocity = MetresPerSecond(6.32);  // km/s
  RecordingImager imager(path_, doubtful, options);
  EXPECT_NE(test::input_error([&] {
              doubtful.grid.z = {Metres(10e-3), Metres(4e-3)};
              RecordingImager refused(path_, doubtful, options);
              refused.prepare(0);
            }),
            "");
  EXPECT_FALSE(warnings.empty()) << "what is doubtful, beside what is refused";
  RecordingImager silent(path_, configuration_);
  silent.image(0);
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace echoform
