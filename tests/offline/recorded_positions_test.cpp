// Positions that are chosen by number: lists, the rows of their events, and the frames of a scan.
#include "offline/recorded_positions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::recorded_positions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RecordedPositions, ListsAreNumbersAndRanges) {
  EXPECT_THAT(parse_positions("0", "--positions"), ElementsAre(0));
  EXPECT_THAT(parse_positions("3-7,9", "--positions"), ElementsAre(3, 4, 5, 6, 7, 9));
  EXPECT_THAT(parse_positions("9,2-2,4", "--positions"), ElementsAre(2, 4, 9));
  for (const char* text : {"", ",", "3,", ",3", "a", "3-", "-3", "3--4", "3 4", "3, 4", "1.5", "3-7,9x", "+3"}) {
    EXPECT_THAT(test::input_error([&] { static_cast<void>(parse_positions(text, "--positions")); }),
                HasSubstr("expected numbers and ranges from 0, such as 3-7,9"))
        << text;
  }
  EXPECT_THAT(test::input_error([] { static_cast<void>(parse_positions("7-3", "--positions")); }),
              HasSubstr("--positions: found 7-3; expected a range that rises, as 3-7"));
  EXPECT_THAT(test::input_error([] { static_cast<void>(parse_positions("3-7,5", "--positions")); }),
              HasSubstr("--positions: found 5 twice; expected each position once"));
  for (const char* text : {"1000000", "99999999999999999999999", "0-1000000"}) {
    EXPECT_THAT(test::input_error([&] { static_cast<void>(parse_positions(text, "--positions")); }),
                HasSubstr("numbers up to 999999"))
        << text;
  }
  std::string many = "0-999999";
  for (int k = 0; k < 1000; ++k) many += ",0-999999";
  EXPECT_THAT(test::input_error([&] { static_cast<void>(parse_positions(many, "--positions")); }),
              HasSubstr("each position once"));
}

/// Two elements at three positions, which take turns; sample k of row r of a frame is 100 r + k.
class Fake final : public Recording {
 public:
  Fake(std::size_t positions, std::vector<std::optional<EncoderCount>> counts)
      : Recording("fake.mfmc", "fake"), counts_(std::move(counts)) {
    acquisition_.probe = make_linear_probe(2, Metres(1e-3), Metres(0.0), Hertz(5e6), Hertz(0.0));
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.samples = 4;
    acquisition_.sample_rate = Hertz(40e6);
    for (std::uint32_t k = 0; k < positions; ++k) acquisition_.positions.push_back({.origin = {Metres(1e-3 * k), {}, {}}});
    for (std::uint32_t element = 0; positions > 0 && element < 2; ++element) {
      for (std::uint32_t k = 0; k < positions; ++k) {
        acquisition_.events.push_back(TransmitEvent{ElementEvent{element}, {}});
        acquisition_.events.back().position = k;
      }
    }
  }
  [[nodiscard]] std::size_t frames() const noexcept override { return counts_.size(); }
  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = static_cast<float>(100 * (k / 4) + k % 4);
  }
  [[nodiscard]] FrameStamp stamp(std::size_t frame) const override {
    FrameStamp stamp;
    stamp.position = counts_[frame];
    return stamp;
  }

 private:
  std::vector<std::optional<EncoderCount>> counts_;
};

std::unique_ptr<Recording> fake(std::size_t positions, std::vector<std::optional<EncoderCount>> counts = {std::nullopt}) {
  return std::make_unique<Fake>(positions, std::move(counts));
}

std::vector<float> first_samples(const std::vector<float>& samples) {
  std::vector<float> firsts;
  for (std::size_t k = 0; k < samples.size(); k += 4) {
    firsts.push_back(samples[k]);
    EXPECT_EQ(samples[k + 3], samples[k] + 3.0F);
  }
  return firsts;
}

TEST(RecordedPositions, KeepTheirEventsAndRows) {
  std::unique_ptr<Recording> recording = fake(3);
  Configuration configuration;
  keep_positions(recording, configuration, {0, 2}, "--positions");
  const Acquisition& kept = recording->acquisition();
  ASSERT_EQ(kept.positions.size(), 2U);
  EXPECT_EQ(kept.positions[1].origin.x, Metres(2e-3));
  ASSERT_EQ(kept.events.size(), 4U);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(std::get<ElementEvent>(kept.events[k].form).element, expected[k].first);
    EXPECT_EQ(kept.events[k].position, expected[k].second);
  }
  EXPECT_EQ(recording->stored(), kept);
  // Rows of events 0, 2, 3 and 5, two receivers each.
  std::vector<float> frame(8 * 4);
  recording->read_frame(0, frame);
  EXPECT_THAT(first_samples(frame), ElementsAre(0, 100, 400, 500, 600, 700, 1000, 1100));
  std::vector<float> stored(8 * 4);
  recording->read_stored(0, std::as_writable_bytes(std::span(stored)));
  EXPECT_EQ(stored, frame);
  const std::vector<RowRange> some{{1, 2}, {6, 1}};
  std::vector<float> rows(3 * 4);
  recording->read_rows(0, some, std::as_writable_bytes(std::span(rows)));
  EXPECT_THAT(first_samples(rows), ElementsAre(100, 400, 1000));
  EXPECT_THAT(recording->describe(), HasSubstr("; 2 of 3 positions"));
}

TEST(RecordedPositions, StatedForAllAreThoseOfTheChosen) {
  std::unique_ptr<Recording> recording = fake(3);
  Configuration configuration;
  configuration.acquisition.position_count = 3;
  configuration.acquisition.position_step = Metres(2e-3);
  keep_positions(recording, configuration, {1, 2}, "--positions");
  ASSERT_TRUE(configuration.acquisition.positions.has_value());
  ASSERT_EQ(configuration.acquisition.positions->size(), 2U);
  EXPECT_THAT((*configuration.acquisition.positions)[1], ElementsAre(4e-3, 0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_FALSE(configuration.acquisition.position_count || configuration.acquisition.position_step);
}

TEST(RecordedPositions, OfAScanAreThePlacesInTheirOrder) {
  const auto recording = fake(0, {5, 5, 10, std::nullopt, 5, 20});
  EXPECT_THAT(frames_at(*recording, {0, 2}, "--positions"), ElementsAre(true, true, false, false, true, true));
  EXPECT_THAT(frames_at(*recording, {1}, "--positions"), ElementsAre(false, false, true, false, false, false));
  EXPECT_THAT(test::input_error([&] {
                static_cast<void>(frames_at(*recording, {1, 3}, "--positions"));
              }),
              HasSubstr("--positions: found 3; expected 0 to 2: 3 places that the frames of fake.mfmc were taken at"));
  EXPECT_THAT(test::input_error([&] { static_cast<void>(frames_at(*fake(0), {0}, "--positions")); }),
              HasSubstr("found fake.mfmc, whose frames state no count of the encoder"));
}

TEST(RecordedPositions, ThatAreNotThereAreRefused) {
  Configuration configuration;
  std::unique_ptr<Recording> recording = fake(3);
  EXPECT_THAT(test::input_error([&] {
                keep_positions(recording, configuration, {0, 3}, "--positions");
              }),
              HasSubstr("--positions: found 3; expected 0 to 2: 3 positions of each frame of fake.mfmc"));
  std::unique_ptr<Recording> one = fake(1);
  EXPECT_THAT(test::input_error([&] { keep_positions(one, configuration, {1}, "--positions"); }),
              HasSubstr("--positions: found 1; expected 0, the only one of the positions of each frame of fake.mfmc"));
  std::unique_ptr<Recording> none = fake(0);
  EXPECT_THAT(test::input_error([&] { keep_positions(none, configuration, {0}, "--positions"); }),
              HasSubstr("--positions: found fake.mfmc, whose frames state no positions; expected a recording of frames"));
}

}  // namespace
}  // namespace echoform::recorded_positions_test
