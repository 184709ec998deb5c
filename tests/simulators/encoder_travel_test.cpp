#include "simulators/encoder_travel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"

namespace echoform {
namespace {

using ::testing::ElementsAre;

/// As a probe is pushed: step by step, a shorter one at the end, a rest, and back.
std::vector<EncoderCount> pushed(const EncoderTravel& travel, std::size_t frames) {
  std::vector<EncoderCount> counts{travel.first};
  for (EncoderCount aim = travel.last; counts.size() < frames; aim = aim == travel.last ? travel.first : travel.last) {
    while (counts.back() != aim) {
      const EncoderCount left = aim - counts.back();
      counts.push_back(counts.back() + std::clamp(left, -travel.step, travel.step));
    }
    counts.insert(counts.end(), travel.pause, aim);
  }
  counts.resize(frames);
  return counts;
}

std::vector<EncoderCount> first_counts(const EncoderTravel& travel, std::uint64_t frames) {
  std::vector<EncoderCount> counts;
  for (std::uint64_t frame = 0; frame < frames; ++frame) counts.push_back(encoder_count(travel, frame).value());
  return counts;
}

TEST(EncoderTravel, GoesForthStopsAndReverses) {
  EXPECT_THAT(first_counts({.first = 0, .last = 10, .step = 4, .pause = 2}, 14),
              ElementsAre(0, 4, 8, 10, 10, 10, 6, 2, 0, 0, 0, 4, 8, 10));
  EXPECT_THAT(first_counts({.first = 3, .last = -3, .step = 3}, 6), ElementsAre(3, 0, -3, 0, 3, 0));
  EXPECT_THAT(first_counts({.first = 5, .last = 6, .step = 100}, 4), ElementsAre(5, 6, 5, 6));
  EXPECT_THAT(first_counts({.first = -7, .last = -7, .step = 1, .pause = 3}, 3), ElementsAre(-7, -7, -7));
}

TEST(EncoderTravel, IsThatOfAProbeThatIsPushedStepByStep) {
  for (const EncoderCount last : {-11, -1, 1, 2, 12, 37}) {
    for (const EncoderCount step : {1, 3, 12, 50}) {
      for (const std::uint64_t pause : {0U, 1U, 4U}) {
        const EncoderTravel travel{.first = 0, .last = last, .step = step, .pause = pause};
        EXPECT_EQ(first_counts(travel, 300), pushed(travel, 300)) << last << " by " << step << ", " << pause;
      }
    }
  }
}

TEST(EncoderTravel, HoldsTheGreatestCountsAndFrames) {
  const EncoderTravel travel{.first = -most_encoder_counts, .last = most_encoder_counts, .step = most_encoder_counts, .pause = 1};
  EXPECT_NO_THROW(validate(travel, "[simulator]"));
  EXPECT_THAT(first_counts(travel, 6),
              ElementsAre(-most_encoder_counts, 0, most_encoder_counts, most_encoder_counts, 0, -most_encoder_counts));
  EXPECT_EQ(encoder_count(travel, 6 * (~0ULL / 6)), -most_encoder_counts);
}

TEST(EncoderTravel, WithoutAStepThereIsNoEncoder) {
  EXPECT_EQ(encoder_count({.first = 1, .last = 5}, 0), std::nullopt);
}

TEST(EncoderTravel, RefusesWhatIsOutOfRange) {
  const auto refused = [](const EncoderTravel& travel) { return test::input_error([&] { validate(travel, "[simulator]"); }); };
  EXPECT_EQ(refused({.step = -1}), "[simulator] encoder_step: found -1; expected 0 to 1000000000000");
  EXPECT_EQ(refused({.first = -1'000'000'000'001}),
            "[simulator] encoder_first: found -1000000000001; expected -1000000000000 to 1000000000000");
  EXPECT_NE(refused({.last = 1'000'000'000'001}), "");
  EXPECT_EQ(refused({.pause = 1'000'001}), "[simulator] encoder_pause: found 1000001; expected 0 to 1000000");
}

}  // namespace
}  // namespace echoform
