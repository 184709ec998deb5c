// The source of a MicroPulse over a real socket, sent bytes that were written by hand: broken framing, errors amid A-scans,
// cycles that lose their ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"
#include "base/log_limit.hpp"
#include "instruments/micropulse/micropulse_source.hpp"
#include "tests/instruments/scripted_instrument.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/input_error.hpp"
#include "tests/transport_acquisition/fake_host.hpp"

namespace echoform {
namespace {

using micropulse::Cycling;
using micropulse::InstrumentSettings;
using testing::HasSubstr;
using testing_support::a_scan_message;
using testing_support::Bytes;
using testing_support::FakeIntake;
using testing_support::ScriptedInstrument;
using testing_support::state_message;

constexpr std::size_t elements = 2;
constexpr std::size_t samples = 3;

void operator+=(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::int16_t count_of(std::size_t frame, std::size_t event, std::size_t receiver, std::size_t sample) {
  return static_cast<std::int16_t>(1000 * frame + 100 * event + 10 * receiver + sample);
}

Bytes a_scan(std::size_t frame, std::size_t event, std::size_t receiver) {
  std::vector<std::int16_t> counts;
  for (std::size_t n = 0; n < samples; ++n) counts.push_back(count_of(frame, event, receiver, n));
  return a_scan_message(static_cast<std::uint32_t>(256 + event), static_cast<std::uint8_t>(receiver), counts);
}

/// A-scans of the events from `first` on, before `end`.
Bytes events(std::size_t frame, std::size_t first = 0, std::size_t end = elements) {
  Bytes bytes;
  for (std::size_t event = first; event < end; ++event) {
    for (std::size_t receiver = 0; receiver < elements; ++receiver) bytes += a_scan(frame, event, receiver);
  }
  return bytes;
}

std::vector<std::int16_t> counts_of(std::size_t frame) {
  std::vector<std::int16_t> counts;
  for (std::size_t event = 0; event < elements; ++event) {
    for (std::size_t receiver = 0; receiver < elements; ++receiver) {
      for (std::size_t n = 0; n < samples; ++n) counts.push_back(count_of(frame, event, receiver, n));
    }
  }
  return counts;
}

/// 0.4 s later each time that it is asked.
class TickingClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const noexcept override { return SteadyTime(400'000'000) * ++asked_; }
  [[nodiscard]] WallTime wall() const noexcept override { return WallTime(1); }

 private:
  mutable std::atomic<int> asked_{0};
};

class OneHost final : public StreamHost {
 public:
  std::shared_ptr<FrameIntake> open_stream(std::uint64_t /*session*/, const Acquisition& acquisition) override {
    const std::lock_guard lock(mutex_);
    if (!intake_) intake_ = std::make_shared<FakeIntake>(acquisition, 8);
    if (blocked) intake_->block();
    return intake_;
  }
  std::atomic<bool> blocked{false};  ///< whether streams that open have no place
  /// The next stream is another.
  void forget() {
    const std::lock_guard lock(mutex_);
    intake_.reset();
  }
  [[nodiscard]] std::shared_ptr<FakeIntake> intake() const {
    const std::lock_guard lock(mutex_);
    return intake_;
  }
  [[nodiscard]] std::uint64_t frames() const {
    const auto made = intake();
    return made ? made->frames.load() : 0;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<FakeIntake> intake_;
};

class MicropulseStream : public testing::Test {
 protected:
  void start(std::vector<Bytes> scripts, std::size_t piece = 1 << 16, Cycling cycling = Cycling::unbuffered) {
    instrument_ = std::make_unique<ScriptedInstrument>(std::move(scripts), piece);
    micropulse::SourceOptions options;
    options.host = "127.0.0.1";
    options.port = instrument_->port();
    options.settings.cycling = cycling;
    options.reset_wait = options.settle = std::chrono::milliseconds(0);
    options.pauses = {.first = std::chrono::milliseconds(5), .longest = std::chrono::milliseconds(5)};
    options.answer_timeout = options.silence_timeout = std::chrono::minutes(2);
    Acquisition wanted;
    wanted.probe = make_linear_probe(elements, Metres(0.6e-3), Metres{}, Hertz(5e6), Hertz{});
    wanted.samples = samples;
    options.acquisition = instrument_acquisition(std::move(wanted), options.settings, "test");
    source_ = make_micropulse_source(options, clock_);
    source_->start(host_);
  }
  [[nodiscard]] std::vector<std::int16_t> frame(std::uint64_t sequence) const {
    const auto bytes = host_.intake()->samples(sequence);
    std::vector<std::int16_t> counts(bytes.size() / 2);
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    return counts;
  }
  [[nodiscard]] std::size_t lines_with(std::string_view words) const {
    const std::string text = log_.text();
    std::size_t count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
  }

  test::CapturedLog log_;
  TickingClock clock_;
  OneHost host_;
  std::unique_ptr<ScriptedInstrument> instrument_;
  std::unique_ptr<micropulse::MicropulseSource> source_;  // ends first
};

TEST_F(MicropulseStream, BrokenFramingIsOneLineAndAnotherConnection) {
  Bytes broken = events(0);
  broken += Bytes{0x77, 0x1A, 0x77};
  Bytes whole = events(1);
  whole += events(2);
  start({broken, whole});
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 3; }));
  source_->stop();
  for (std::size_t number = 0; number < 3; ++number) EXPECT_EQ(frame(number), counts_of(number)) << number;
  const std::string line = "found the byte 77 where a message begins; expected 1A, 1C to 1E, 2D, 06, 13 to 15, 23 or 01 01";
  EXPECT_THAT(source_->last_rejection(), HasSubstr(line));
  EXPECT_EQ(lines_with("warning: "), 1U) << log_.text();
  EXPECT_EQ(lines_with(line), 1U) << log_.text();
  const SourceCounters counters = source_->counters();
  EXPECT_EQ(counters.connections_accepted, 2U);
  EXPECT_EQ(counters.connections_lost, 1U);
  EXPECT_EQ(counters.decode_errors_total(), 1U);
}

TEST_F(MicropulseStream, AMessageLongerThanWasSetUpIsOneLineAndAnotherConnection) {
  Bytes broken = events(0, 0, 1);
  broken += Bytes{0x1A, 0xFF, 0xFF, 0xFF, 0, 1, 4, 0};
  start({broken, events(1)});
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 1; }));
  source_->stop();
  // The first frame was not whole, and has a number.
  EXPECT_EQ(frame(1), counts_of(1));
  EXPECT_EQ(lines_with("the message 1A: found a length of 16777215 bytes"), 1U) << log_.text();
  EXPECT_EQ(source_->counters().decode_errors_total(), 1U);
}

TEST_F(MicropulseStream, ErrorsAndFailuresOfCouplingAmidAScansHarmNoFrame) {
  const Bytes coupling{0x1E, 12, 0, 0, 0, 1, 4, 0, 1, 2, 3, 4};
  Bytes script = a_scan(0, 0, 0);
  script += Bytes{0x06, 1};
  script += coupling;
  script += a_scan(0, 0, 1);
  script += Bytes{0x06, 4};
  script += events(0, 1);
  script += Bytes{0x06, 2};
  script += events(1);
  script += coupling;
  script += Bytes{0x2D, 6, 0, 0, 0x43, 5};
  script += events(2);
  // Cut in the middle of messages, too.
  for (const std::size_t piece : {1U, 7U, 65536U}) {
    SCOPED_TRACE(piece);
    start({script}, piece);
    ASSERT_TRUE(eventually([&] { return host_.frames() >= 3; }));
    source_->stop();
    const SourceCounters counters = source_->counters();
    EXPECT_EQ(counters.connections_accepted, 1U);
    EXPECT_EQ(counters.connections_lost, 0U);
    EXPECT_EQ(counters.decode_errors_total(), 0U);
    EXPECT_EQ(host_.intake()->abandoned, 0U);
    for (std::size_t number = 0; number < 3; ++number) EXPECT_EQ(frame(number), counts_of(number)) << number;
    EXPECT_THAT(source_->last_rejection(), HasSubstr("an extended error: a fault of the high-voltage supply (error 5)"));
    source_.reset();
    instrument_.reset();
    host_.forget();
  }
  // Of four errors in 1.6 s of the clock, in which the coupling's line comes between the first and the second, the first and the
  // third have a line each, and the third counts the second.
  EXPECT_EQ(lines_with("the instrument says: a command that it does not know (error 1)\n"), 3U) << log_.text();
  EXPECT_EQ(lines_with("the instrument says: it is too hot"), 0U) << log_.text();
  EXPECT_EQ(lines_with("the instrument says: an argument out of its limits (error 2)" + left_out_text(1)), 3U) << log_.text();
  EXPECT_EQ(lines_with("passes over a failure of coupling"), 6U) << log_.text();
}

TEST_F(MicropulseStream, HalvesOfTwoBufferedCyclesAreNoFrame) {
  Bytes script;
  for (const Bytes& cycle : {events(0), events(1, 0, 1), events(2, 1), events(3)}) {
    script += state_message();
    script += cycle;
  }
  start({script}, 1 << 16, Cycling::buffered);
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 2; }));
  source_->stop();
  EXPECT_EQ(host_.frames(), 2U);
  EXPECT_EQ(frame(0), counts_of(0));
  EXPECT_EQ(frame(3), counts_of(3));
}

TEST_F(MicropulseStream, OneThatIsHeldBackIsToldToStop) {
  Bytes script;
  for (std::size_t k = 0; k < 4; ++k) script += events(k);
  host_.blocked = true;
  start({script});
  ASSERT_TRUE(eventually([&] { return host_.intake() && host_.intake()->waits > 0; }));
  EXPECT_EQ(instrument_->stops(), 1);  // before its reset
  source_->stop();
  EXPECT_TRUE(eventually([&] { return instrument_->stops() == 2; }));
}

TEST_F(MicropulseStream, WhatTheInstrumentRefusesWhileItFiresIsTakenBack) {
  start({events(0)});
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 1; }));
  instrument_->refuse("PRF 20001");
  micropulse::LiveSettings wanted{.pulse_repetition = 20001, .gain_db = 41.5, .gate_start = 0, .samples = samples};
  EXPECT_THAT(test::input_error([&] { source_->change(wanted); }),
              HasSubstr("the instrument refuses the change: an argument out of its limits (error 2)"))
      << "it was taken";
  const auto told = [&] {
    auto lines = instrument_->lines();
    // What it was set up with comes before.
    lines.erase(lines.begin(), std::find(lines.begin(), lines.end(), "STPS 1") + 1);
    return lines;
  };
  ASSERT_TRUE(eventually([&] { return told().size() >= 10; }));
  EXPECT_THAT(told(), testing::ElementsAre("STX 1", "PRF 20001", "GAN 0 166", "GANS 0 166", "STA", "PRF 5000", "GAN 0 160",
                                           "GANS 0 160", "STA", "STPS 1"));
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 2; }));
  wanted.pulse_repetition = 5000;
  source_->change(wanted);
  ASSERT_TRUE(eventually([&] { return told().size() >= 15; }));
  EXPECT_THAT(told(), testing::Contains("GANS 0 166").Times(2));
  EXPECT_EQ(source_->counters().connections_accepted, 1U);
}

}  // namespace
}  // namespace echoform
