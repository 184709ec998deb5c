// The schedule on a clock that the test drives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "simulators/playback.hpp"
#include "simulators/schedule.hpp"

namespace echoform {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SendSchedule, KeepsTheExactCountForEverWithoutDrift) {
  ManualClock clock;
  clock.advance(123456789ns);
  SendSchedule schedule(clock, 29.97);
  // 1000 s in steps that no period divides.
  std::uint64_t sent = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    while (schedule.wait() == 0ns) {
      EXPECT_EQ(schedule.take(), sent);
      ++sent;
    }
    clock.advance(1ms);
  }
  EXPECT_EQ(sent, 29970U);  // frame 29970 is due at 1000 s exactly, which is not reached by a take
  EXPECT_EQ(schedule.taken(), sent);
  EXPECT_EQ(schedule.skipped(), 0U);
  const TimingError error = schedule.timing_error();
  EXPECT_EQ(error.count, sent);
  EXPECT_GE(error.last, 0ns);
  EXPECT_LT(error.maximum, 1ms);  // never later than the clock's step
}

TEST(SendSchedule, DeadlinesAreExactAfterYears) {
  ManualClock clock;
  const SendSchedule schedule(clock, 30.0);
  EXPECT_EQ(schedule.deadline(1), 33333333ns);
  EXPECT_EQ(schedule.deadline(3), 100ms);
  EXPECT_EQ(schedule.deadline(30ULL * 86400 * 3650), std::chrono::nanoseconds(std::chrono::hours(24 * 3650)));
}

TEST(SendSchedule, WaitsForTheDeadline) {
  ManualClock clock;
  SendSchedule schedule(clock, 100.0);
  EXPECT_EQ(schedule.wait(), 0ns);
  EXPECT_EQ(schedule.take(), 0U);
  EXPECT_EQ(schedule.wait(), 10ms);
  clock.advance(4ms);
  EXPECT_EQ(schedule.wait(), 6ms);
  clock.advance(6ms);
  EXPECT_EQ(schedule.wait(), 0ns);
}

TEST(SendSchedule, CatchesUpAfterADelay) {
  ManualClock clock;
  SendSchedule schedule(clock, 100.0);
  schedule.take();
  clock.advance(55ms);
  std::vector<std::uint64_t> sent;
  while (schedule.wait() == 0ns) sent.push_back(schedule.take());
  EXPECT_THAT(sent, ElementsAre(1U, 2U, 3U, 4U, 5U));
  EXPECT_EQ(schedule.wait(), 5ms);
  EXPECT_EQ(schedule.timing_error().maximum, 45ms);
  EXPECT_EQ(schedule.timing_error().last, 5ms);
}

TEST(SendSchedule, SkipsWhatIsOverdueWhereAsked) {
  ManualClock clock;
  SendSchedule schedule(clock, 100.0, LatePolicy::skip);
  schedule.take();
  clock.advance(55ms);
  std::vector<std::uint64_t> sent;
  while (schedule.wait() == 0ns) sent.push_back(schedule.take());
  EXPECT_THAT(sent, ElementsAre(5U));
  EXPECT_EQ(schedule.skipped(), 4U);
  EXPECT_EQ(schedule.timing_error().maximum, 5ms);
  clock.advance(5ms);  // exactly on time again
  EXPECT_EQ(schedule.take(), 6U);
  EXPECT_EQ(schedule.timing_error().last, 0ns);
  EXPECT_EQ(schedule.taken() + schedule.skipped(), 7U);
}

TEST(SendSchedule, SkippingNeverLosesCount) {
  ManualClock clock;
  SendSchedule schedule(clock, 333.0, LatePolicy::skip);
  std::uint64_t expected_next = 0;
  for (int k = 0; k < 20000; ++k) {
    clock.advance(std::chrono::nanoseconds(100'000 + 7'777 * (k % 1009)));
    if (schedule.wait() > 0ns) continue;
    const std::uint64_t frame = schedule.take();
    EXPECT_GE(frame, expected_next);
    EXPECT_LE(schedule.deadline(frame), clock.steady());
    EXPECT_GT(schedule.deadline(frame + 1), clock.steady());
    expected_next = frame + 1;
    ASSERT_EQ(schedule.taken() + schedule.skipped(), expected_next);
  }
  EXPECT_GT(schedule.skipped(), 0U);
}

TEST(SendSchedule, ReportsItsTimingError) {
  ManualClock clock;
  SendSchedule schedule(clock, 10.0);
  EXPECT_EQ(schedule.timing_error().count, 0U);
  // Lateness of frame k is k * 10 us for 0 .. 199.
  for (std::uint64_t k = 0; k < 200; ++k) {
    clock.advance(schedule.deadline(k) + std::chrono::microseconds(10 * k) - clock.steady());
    ASSERT_EQ(schedule.take(), k);
  }
  const TimingError error = schedule.timing_error();
  EXPECT_EQ(error.count, 200U);
  EXPECT_EQ(error.last, 1990us);
  EXPECT_EQ(error.maximum, 1990us);
  EXPECT_EQ(error.mean, 995us);
  // The 198th of 200 in order is 1970 us; a bin is a 32nd wide.
  EXPECT_GE(error.p99, 1970us);
  EXPECT_LE(error.p99, 1970us + 1970us / 32);
}

TEST(SendSchedule, WithoutARateNothingWaits) {
  ManualClock clock;
  SendSchedule schedule(clock, std::nullopt);
  for (std::uint64_t k = 0; k < 100; ++k) {
    EXPECT_EQ(schedule.wait(), 0ns);
    EXPECT_EQ(schedule.take(), k);
  }
  EXPECT_EQ(schedule.timing_error().count, 0U);
  EXPECT_EQ(schedule.taken(), 100U);
}

TEST(ParseRate, ReadsNumbersAndMax) {
  EXPECT_EQ(parse_rate("max", "--rate"), std::nullopt);
  EXPECT_EQ(parse_rate("25", "--rate"), 25.0);
  EXPECT_EQ(parse_rate("0.5", "--rate"), 0.5);
}

TEST(ParseRate, RefusesTheRestByName) {
  for (const char* text : {"", "fast", "25fps", "0", "-1", "nan", "inf", "1e7", "1e999", " 25"}) {
    EXPECT_THAT([&] { (void)parse_rate(text, "--rate"); },
                ThrowsMessage<InputError>("--rate: found \"" + std::string(text) +
                                          "\"; expected frames per second, 0.001 to 1000000, or max"));
  }
  ManualClock clock;
  EXPECT_THAT([&] { SendSchedule(clock, 0.0); }, ThrowsMessage<InputError>(HasSubstr("rate: found 0 frames/s")));
}

/// Three frames of two bytes.
class SmallSource final : public FrameSource {
 public:
  explicit SmallSource(bool cyclic) : cyclic_(cyclic) {}
  [[nodiscard]] const Acquisition& acquisition() const noexcept override { return acquisition_; }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return 3; }
  [[nodiscard]] bool cyclic() const noexcept override { return cyclic_; }
  [[nodiscard]] std::span<const std::byte> frame(std::uint64_t index) override {
    bytes_ = {std::byte(index), std::byte(index)};
    return bytes_;
  }
  [[nodiscard]] std::optional<EncoderCount> position(std::uint64_t number) const override {
    if (!encoder || number == 1) return std::nullopt;
    return -static_cast<EncoderCount>(number);
  }
  [[nodiscard]] std::string describe() const override { return "three frames"; }

  bool encoder = false;

 private:
  bool cyclic_;
  Acquisition acquisition_;
  std::array<std::byte, 2> bytes_{};
};

struct Sent {
  std::uint64_t sequence;
  std::int64_t time;
  int content;
  std::optional<EncoderCount> position = {};
  bool operator==(const Sent&) const = default;
};

struct Playing {
  ManualClock clock;
  std::vector<Sent> sent;
  std::chrono::nanoseconds sending{0};  ///< that each send takes
  std::chrono::nanoseconds waited{0};

  SendFrame send = [this](const FrameStamp& stamp, std::span<const std::byte> bytes) {
    sent.push_back({stamp.sequence, stamp.acquisition_time.count(), std::to_integer<int>(bytes[0]), stamp.position});
    clock.advance(sending);
  };
  WaitFor wait_for = [this](std::chrono::nanoseconds wait, std::stop_token) {
    waited += wait;
    clock.advance(wait);
  };
};

TEST(RunSource, SendsOnScheduleRoundAndRound) {
  Playing playing;
  SmallSource source(true);
  SendSchedule schedule(playing.clock, 100.0);
  playing.clock.step_wall(5s);
  const auto result =
      run_source(source, playing.send, schedule, {}, {.first_sequence = 40, .frame_limit = 5}, {}, playing.wait_for);
  const std::int64_t ms = 1'000'000;
  EXPECT_THAT(playing.sent, ElementsAre(Sent{40, 5000 * ms, 0}, Sent{41, 5010 * ms, 1}, Sent{42, 5020 * ms, 2},
                                        Sent{43, 5030 * ms, 0}, Sent{44, 5040 * ms, 1}));
  EXPECT_EQ(result.frames_sent, 5U);
  EXPECT_EQ(result.bytes_sent, 10U);
  EXPECT_EQ(result.elapsed, 40ms);
  EXPECT_DOUBLE_EQ(result.rate, 125.0);
  EXPECT_EQ(result.timing_error.maximum, 0ns);
}

TEST(RunSource, StatesPositionsThatGoOnWhereTheFramesGoRound) {
  Playing playing;
  SmallSource source(true);
  source.encoder = true;
  SendSchedule schedule(playing.clock, 100.0);
  run_source(source, playing.send, schedule, {}, {.first_sequence = 40, .frame_limit = 5}, {}, playing.wait_for);
  std::vector<std::optional<EncoderCount>> positions;
  for (const Sent& frame : playing.sent) positions.push_back(frame.position);
  EXPECT_THAT(positions, ElementsAre(0, std::nullopt, -2, -3, -4));
}

TEST(RunSource, EndsWithTheRecordingUnlessLooped) {
  Playing playing;
  SmallSource source(false);
  SendSchedule schedule(playing.clock, 100.0);
  EXPECT_EQ(run_source(source, playing.send, schedule, {}, {.frame_limit = {}, .loop = false}, {}, playing.wait_for).frames_sent,
            3U);
  EXPECT_EQ(playing.waited, 20ms);  // none after the last
  EXPECT_EQ(run_source(source, playing.send, schedule, {}, {.frame_limit = 7, .loop = true}, {}, playing.wait_for).frames_sent,
            7U);
  EXPECT_EQ(playing.sent.back(), (Sent{6, 80'000'000, 0}));
}

TEST(RunSource, SlowSenderLeavesGapsWhereSkippingIsAsked) {
  Playing playing;
  playing.sending = 25ms;
  SmallSource source(true);
  SendSchedule schedule(playing.clock, 100.0, LatePolicy::skip);
  const auto result = run_source(source, playing.send, schedule, {}, {.frame_limit = 4}, {}, playing.wait_for);
  std::vector<std::uint64_t> sequences;
  for (const Sent& frame : playing.sent) sequences.push_back(frame.sequence);
  EXPECT_THAT(sequences, ElementsAre(0U, 2U, 5U, 7U));
  EXPECT_EQ(result.frames_skipped, 4U);
}

TEST(RunSource, SkippingPastTheEndEndsTheRecording) {
  Playing playing;
  playing.sending = 1s;
  SmallSource source(false);
  SendSchedule schedule(playing.clock, 100.0, LatePolicy::skip);
  EXPECT_EQ(run_source(source, playing.send, schedule, {}, {.frame_limit = {}, .loop = false}, {}, playing.wait_for).frames_sent,
            1U);
}

TEST(RunSource, StopsWhenAsked) {
  Playing playing;
  SmallSource source(true);
  SendSchedule schedule(playing.clock, 100.0);
  std::stop_source stop;
  const SendFrame send = [&](const FrameStamp& stamp, std::span<const std::byte> bytes) {
    playing.send(stamp, bytes);
    if (stamp.sequence == 10) stop.request_stop();
  };
  EXPECT_EQ(run_source(source, send, schedule, stop.get_token(), {}, {}, playing.wait_for).frames_sent, 11U);
  EXPECT_EQ(run_source(source, send, schedule, stop.get_token(), {}, {}, playing.wait_for).frames_sent, 0U);
}

TEST(RunSource, ReportsAtMostOnceAnInterval) {
  Playing playing;
  SmallSource source(true);
  SendSchedule schedule(playing.clock, 100.0);
  std::vector<std::uint64_t> reports;
  run_source(
      source, playing.send, schedule, {}, {.frame_limit = 350},
      [&](const PlaybackProgress& p) { reports.push_back(p.frames_sent); }, playing.wait_for);
  EXPECT_THAT(reports, ElementsAre(101U, 201U, 301U));  // frames 0 .. 100 by the end of the first second
}

TEST(WaitInRealTime, ReturnsAtOnceWhenStopped) {
  std::stop_source stop;
  stop.request_stop();
  wait_in_real_time(1h, stop.get_token());  // would hang the test otherwise
}

}  // namespace
}  // namespace echoform
