// The simulated MicroPulse, and the source that connects to it, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "instruments/instrument_server.hpp"
#include "instruments/micropulse/command_writer.hpp"
#include "instruments/micropulse/micropulse_source.hpp"
#include "instruments/micropulse/simulator/simulated_instrument.hpp"
#include "tests/support/eventually.hpp"
#include "tests/transport_acquisition/fake_host.hpp"

namespace echoform {
namespace {

using micropulse::Cycling;
using micropulse::InstrumentSettings;
using micropulse::SampleBits;
using micropulse_simulator::Command;
using micropulse_simulator::CommandParser;
using micropulse_simulator::Complaint;
using micropulse_simulator::Habits;

using micropulse_simulator::SimulatedInstrument;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::FakeHost;
using testing_support::FakeIntake;
using Bytes = std::vector<std::uint8_t>;

std::vector<Command> commands_in(std::string_view text, std::size_t piece) {
  CommandParser parser;
  std::vector<Command> commands;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    parser.take(text.substr(at, piece));
    while (auto command = parser.next()) commands.push_back(*command);
  }
  return commands;
}

TEST(MicropulseSimulator, ReadsCommandsAsTheManualHasThem) {
  const std::string text = "dof 4 PRF 0FFh  # GAN 0 1\rSWP 1 256 - 319\r\ngats 0 -1\r5\rPRF 1x\r";
  const std::vector<Command> expected{{"DOF", {4}, {}},
                                      {"PRF", {255}, {}},
                                      {"SWP", {1, 256, std::nullopt, 319}, {}},
                                      {"GATS", {0, -1}, {}},
                                      {"", {}, Complaint::unknown_command},
                                      {"PRF", {}, Complaint::out_of_limits}};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(commands_in(text, piece), expected) << piece;
  // A mnemonic may stand behind the longest line's end, not within it.
  const auto longer = commands_in("PRF " + std::string(1030, ' ') + "5 DOF 1\rDOF 2\r", 7);
  EXPECT_EQ(longer, (std::vector<Command>{{"PRF", {}, Complaint::out_of_limits}, {"DOF", {2}, {}}}));
}

SimulatorConfiguration scene(std::size_t elements) {
  SimulatorConfiguration configuration;
  configuration.elements = elements;
  configuration.cycle_frames = 2;
  return configuration;
}

/// What it answers to a line.
Bytes answer(SimulatedInstrument& instrument, const std::string& line) {
  instrument.outbox.clear();
  instrument.hear(line + "\r", SteadyTime{0});
  return instrument.outbox;
}

TEST(MicropulseSimulator, AnswersWhatItDoesNotFollowWithErrors) {
  SimulatedInstrument instrument(scene(4), {});
  const Bytes conflict{0x06, 0}, unknown{0x06, 1}, limits{0x06, 2};
  for (const char* line : {"BUFF 0", "XYZ", "7", "GA 0 1"}) EXPECT_EQ(answer(instrument, line), unknown) << line;
  for (const char* line : {"PRF", "PRF 0", "PRF 55001", "DOF 5", "GAN 0 281", "TXF 1 5 0", "TXF 1 1 25001", "GAT 0 0 8001",
                           "PAV 1 128 60", "PAW 1 128 81", "RST 30", "SWP 1 319 - 256", "CALS 2", "STS 20"}) {
    EXPECT_EQ(answer(instrument, line), limits) << line;
  }
  for (const char* line : {"ENAS 1", "CALS 0", "TXF 1 0 5", "ETM 1 1"}) EXPECT_EQ(answer(instrument, line), conflict) << line;
  EXPECT_THAT(instrument.doubt(), HasSubstr("found mode 0"));
  for (const char* line : {"PRF 100", "# nothing", "", "TXF 1 1 0", "STX"}) EXPECT_EQ(answer(instrument, line), Bytes{}) << line;
  EXPECT_EQ(answer(instrument, "STA").size(), 18U);
  const Bytes info = answer(instrument, "RST 25");
  EXPECT_EQ(info.size(), 32U);
  EXPECT_EQ(info[9], 25);
}

TEST(MicropulseSimulator, MakesACycleOnceHoweverMuchItIsToldWhileItFires) {
  SimulatedInstrument instrument(scene(4), {});
  for (const char* line :
       {"RST 50", "DOF 4", "PRF 1000", "TXF 1 1 0", "RXF 1 1 0 0", "TXN 256 1", "RXN 256 1", "SWP 1 256", "ENA 256", "ENAS 1",
        "GANS 0 160", "GATS 0 0 100", "PAV 1 128 100", "PAW 1 128 80", "AWFS 0 1", "AMPS 0 13 0", "ETM 1 0"}) {
    answer(instrument, line);
  }
  std::string text = "STPS 1\r";
  for (int k = 0; k < 300; ++k) text += "GAN 0 160\r";
  // It pauses behind each cycle that it makes.
  EXPECT_TRUE(instrument.hear(text, SteadyTime{0}));
  EXPECT_FALSE(instrument.hear({}, SteadyTime{0}));
  ASSERT_TRUE(instrument.due().has_value()) << instrument.doubt();
  instrument.speak(*instrument.due());  // made anew
  instrument.outbox.clear();
  ASSERT_TRUE(instrument.due().has_value());
  instrument.speak(*instrument.due());
  EXPECT_FALSE(instrument.outbox.empty());
}

/// What the source is to see: the simulated frames as they are made elsewhere, from the same scene.
std::vector<std::int16_t> expected_frame(std::size_t elements, const Acquisition& acquisition, std::uint64_t number,
                                         double gain_db) {
  SimulatorConfiguration configuration = scene(elements);
  configuration.samples = acquisition.samples;
  configuration.sample_rate = acquisition.sample_rate;
  configuration.start_time = acquisition.start_time;
  const FrameLayout layout(acquisition);
  configuration.events = acquisition.events;
  for (std::uint32_t event = 0; event < layout.events(); ++event) {
    if (acquisition.events.empty()) configuration.events.push_back({.form = ElementEvent{event}, .receivers = {}});
    // Element `event` and those behind it, where pairs are there once.
    for (std::uint32_t receiver = acquisition.pairs_once() ? event : 0; receiver < elements; ++receiver) {
      configuration.events[event].receivers.push_back(receiver);
    }
  }
  configuration.full_scale *= std::pow(10.0, (40.0 - gain_db) / 20.0);
  std::vector<std::int16_t> counts(acquisition.a_scans() * acquisition.samples);
  FmcSimulator(configuration).synthesise(number, std::as_writable_bytes(std::span(counts)));
  return counts;
}

class MicropulseSource : public testing::Test {
 protected:
  void start(Acquisition wanted, InstrumentSettings settings, unsigned encoder_axis = 0, const Habits& habits = {}) {
    const std::size_t elements = wanted.elements();
    SimulatorConfiguration simulated = scene(elements);
    if (encoder_axis != 0) simulated.encoder = {.first = -3, .last = 17, .step = 10};
    instrument_ = std::make_unique<SimulatedInstrument>(simulated, habits);
    server_ = std::make_unique<InstrumentServer>("127.0.0.1", 0, *instrument_);
    serving_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
    micropulse::SourceOptions options = quick(server_->port());
    options.settings = settings;
    options.acquisition = instrument_acquisition(std::move(wanted), settings, "test");
    options.encoder_axis = encoder_axis;
    options.channel_base = habits.channel_base;
    acquisition_ = options.acquisition;
    source_ = make_micropulse_source(options, clock_);
    source_->start(host_);
  }
  static micropulse::SourceOptions quick(std::uint16_t port) {
    micropulse::SourceOptions options;
    options.host = "127.0.0.1";
    options.port = port;
    options.reset_wait = std::chrono::milliseconds(0);
    options.settle = std::chrono::milliseconds(2);
    options.pauses = {.first = std::chrono::milliseconds(5), .longest = std::chrono::milliseconds(20)};
    options.answer_timeout = std::chrono::minutes(2);
    options.silence_timeout = std::chrono::minutes(2);
    return options;
  }
  static Acquisition wanted(std::size_t elements) {
    Acquisition acquisition;
    acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres{}, Hertz(5e6), Hertz{});
    acquisition.samples = 300;
    return acquisition;
  }
  static InstrumentSettings fast() {
    InstrumentSettings settings;
    settings.pulse_repetition = 55000;
    settings.gate_start = 50;
    return settings;
  }
  /// The intake of the only session.
  [[nodiscard]] const FakeIntake& intake() {
    EXPECT_TRUE(eventually([this] { return host_.latest() != nullptr; }));
    return *host_.latest();
  }
  std::vector<std::int16_t> frame(std::uint64_t sequence) {
    const auto bytes = intake().samples(sequence);
    std::vector<std::int16_t> counts(bytes.size() / 2);
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    return counts;
  }

  /// Knows its intakes without their session, which the source draws.
  class Host final : public StreamHost {
   public:
    std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override {
      if (acquisition.samples > most_samples) throw InputError("acquisition", "long A-scans", "shorter ones");
      const auto opened = host_.open_stream(session, acquisition);
      const std::lock_guard lock(mutex_);
      latest_ = host_.intake(session);
      return opened;
    }
    std::atomic<std::size_t> most_samples{8000};
    [[nodiscard]] std::shared_ptr<FakeIntake> latest() const {
      const std::lock_guard lock(mutex_);
      return latest_;
    }

   private:
    FakeHost host_;
    mutable std::mutex mutex_;
    std::shared_ptr<FakeIntake> latest_;
  };

  SystemClock clock_;
  Host host_;
  std::unique_ptr<SimulatedInstrument> instrument_;
  std::unique_ptr<InstrumentServer> server_;
  std::jthread serving_;
  Acquisition acquisition_;
  std::unique_ptr<micropulse::MicropulseSource> source_;  // ends first
};

TEST_F(MicropulseSource, HasTheSimulatedFullMatrix) {
  InstrumentSettings settings = fast();
  settings.gain_db = 46.0;
  start(wanted(4), settings);
  ASSERT_TRUE(eventually([&] { return intake().frames >= 2; }));
  source_->stop();
  // 16 bits hold the converter's 12 high.
  auto expected = expected_frame(4, acquisition_, 0, 46.0);
  for (auto& count : expected) count = static_cast<std::int16_t>(16 * count);
  EXPECT_EQ(frame(0), expected);
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  EXPECT_EQ(source_->last_rejection(), "");
}

TEST_F(MicropulseSource, HasHalfAMatrixOf12LowBits) {
  Acquisition half = wanted(4);
  half.matrix = MatrixKind::half;
  InstrumentSettings settings = fast();
  settings.bits = SampleBits::twelve;
  settings.justified = micropulse::Justified::low;
  settings.cycling = Cycling::unbuffered;
  start(half, settings, 0, {.high_bits = false, .channel_base = 1});
  ASSERT_TRUE(eventually([&] { return intake().frames >= 2; }));
  source_->stop();
  EXPECT_EQ(frame(0), expected_frame(4, acquisition_, 0, 40.0));
}

TEST_F(MicropulseSource, HasPlaneWavesOneAfterTheOther) {
  Acquisition planes = wanted(4);
  for (const double angle : {-0.2, 0.0, 0.2}) {
    planes.events.push_back({.form = plane_wave(angle, MetresPerSecond(6320.0)), .receivers = {}});
  }
  InstrumentSettings settings = fast();
  settings.cycling = Cycling::single;
  start(planes, settings);
  ASSERT_TRUE(eventually([&] { return intake().frames >= 3; }));
  source_->stop();
  const auto expected = expected_frame(4, acquisition_, 0, 40.0);
  const auto found = frame(0);
  ASSERT_EQ(found.size(), expected.size());
  // Delays are rounded to a ns, which moves a wave of 5 MHz by up to 2 pi 5e6 0.5e-9 = 1.6 % of its amplitude; three times that
  // holds the upper part of the band and the converter's rounding.
  int peak = 0;
  for (const int count : expected) peak = std::max(peak, std::abs(count));
  ASSERT_GT(peak, 100);
  for (std::size_t n = 0; n < found.size(); ++n) ASSERT_NEAR(found[n] / 16.0, expected[n], 1.0 + 0.05 * peak) << n;
}

TEST_F(MicropulseSource, TellsTheInstrumentOfAnotherGainAndGateBetweenFrames) {
  start(wanted(4), fast());
  ASSERT_TRUE(eventually([&] { return intake().frames >= 2; }));
  const auto first = host_.latest();
  source_->change({.pulse_repetition = 50000, .gain_db = 46.0, .gate_start = 50, .samples = 300});
  const auto louder = host_.latest();
  EXPECT_NE(louder, first) << "another stream, so that frames of before are out";
  EXPECT_EQ(first->abandoned, 0U) << "the simulated instrument ends its cycle before it stops";
  ASSERT_TRUE(eventually([&] { return louder->frames >= 5; }));

  source_->change({.pulse_repetition = 50000, .gain_db = 46.0, .gate_start = 80, .samples = 200});
  ASSERT_NE(host_.latest(), louder);
  EXPECT_EQ(host_.latest()->acquisition().samples, 200U);
  EXPECT_DOUBLE_EQ(host_.latest()->acquisition().start_time.value, 80 / 50e6);
  ASSERT_TRUE(eventually([&] { return intake().frames >= 4; }));
  source_->stop();
  EXPECT_EQ(source_->counters().connections_accepted, 1U);
  EXPECT_EQ(source_->last_rejection(), "");
  // All four slots hold frames of the new gate and gain, which of the scene's two nobody says, and one of them perhaps half of
  // the next.
  std::vector<std::vector<std::int16_t>> expected;
  for (const std::uint64_t number : {0U, 1U}) {
    expected.push_back(expected_frame(4, host_.latest()->acquisition(), number, 46.0));
    for (auto& count : expected.back()) count = static_cast<std::int16_t>(16 * count);
  }
  int whole = 0;
  for (const std::uint64_t slot : {0U, 1U, 2U, 3U})
    whole += std::find(expected.begin(), expected.end(), frame(slot)) != expected.end() ? 1 : 0;
  EXPECT_GE(whole, 3);
}

TEST_F(MicropulseSource, AGateThatIsRefusedLeavesTheOneBefore) {
  start(wanted(2), fast());
  ASSERT_TRUE(eventually([&] { return intake().frames >= 2; }));
  EXPECT_THROW(source_->change({.pulse_repetition = 55000, .gain_db = 40.1, .gate_start = 50, .samples = 300}), InputError);
  host_.most_samples = 400;
  EXPECT_THROW(source_->change({.pulse_repetition = 55000, .gain_db = 40.0, .gate_start = 50, .samples = 500}), InputError);
  EXPECT_EQ(host_.latest()->acquisition().samples, 300U);
  const std::uint64_t before = intake().frames;
  EXPECT_TRUE(eventually([&] { return intake().frames >= before + 2; }));
  // Where nothing is connected the next set-up has it.
  source_->stop();
  source_->change({.pulse_repetition = 55000, .gain_db = 40.0, .gate_start = 50, .samples = 250});
  source_->start(host_);
  EXPECT_TRUE(eventually([&] { return intake().acquisition().samples == 250 && intake().frames >= 1; }));
}

TEST_F(MicropulseSource, StatesTheEncodersCount) {
  InstrumentSettings settings = fast();
  settings.cycling = Cycling::single;
  start(wanted(2), settings, 1);
  ASSERT_TRUE(eventually([&] { return intake().frames >= 3; }));
  source_->stop();
  // Counts -3, 7, 17, 7, and so on: the intake has four slots.
  EXPECT_THAT(intake().positions(1), testing::Each(std::optional<EncoderCount>(7)));
  EXPECT_THAT(intake().positions(2), testing::Each(std::optional<EncoderCount>(17)));
}

TEST_F(MicropulseSource, NamesWhyASetUpIsRefused) {
  InstrumentSettings settings = fast();
  settings.commands = {"BUFF 0"};
  start(wanted(2), settings);
  ASSERT_TRUE(eventually([&] { return !source_->last_rejection().empty(); }));
  EXPECT_THAT(source_->last_rejection(),
              HasSubstr("the instrument refuses the set-up: a command that it does not know (error 1)"));
  EXPECT_EQ(host_.latest(), nullptr);
}

TEST_F(MicropulseSource, IsHeldBackByThePipelineAndLosesNothing) {
  start(wanted(2), fast());
  ASSERT_TRUE(eventually([&] { return intake().frames >= 2; }));
  host_.latest()->block();
  ASSERT_TRUE(eventually([&] { return intake().waits >= 2; }));
  const std::uint64_t before = intake().frames;
  host_.latest()->unblock();
  ASSERT_TRUE(eventually([&] { return intake().frames >= before + 5; }));
  source_->stop();
  EXPECT_LE(intake().abandoned, 1U);
  EXPECT_EQ(source_->counters().connections_accepted, 1U);
}

TEST_F(MicropulseSource, ConnectsAnewWhereTheConnectionBreaks) {
  start(wanted(2), fast());
  ASSERT_TRUE(eventually([&] { return intake().frames >= 1; }));
  // Ending the server's connection is the plainest break: the source comes back to the next one, and its frames go on.
  const std::uint16_t port = server_->port();
  serving_.request_stop();
  serving_.join();
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_lost >= 1; }));
  const std::uint64_t before = intake().frames;
  server_.reset();
  server_ = std::make_unique<InstrumentServer>("127.0.0.1", port, *instrument_);
  serving_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
  ASSERT_TRUE(eventually([&] { return intake().frames >= before + 2; }));
  EXPECT_EQ(source_->counters().connections_accepted, 2U);
}

}  // namespace
}  // namespace echoform
