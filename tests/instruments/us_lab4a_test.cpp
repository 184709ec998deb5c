// us_lab4a's protocol for arrays: bytes that were written by hand against what asks and what answers, and both over a real
// socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/errors.hpp"
#include "instruments/instrument_server.hpp"
#include "instruments/us_lab4a/array_protocol.hpp"
#include "instruments/us_lab4a/simulator/simulated_array.hpp"
#include "instruments/us_lab4a/us_lab4a_source.hpp"
#include "simulators/fmc_simulator.hpp"
#include "tests/support/eventually.hpp"
#include "tests/transport_acquisition/fake_host.hpp"

namespace echoform {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing_support::FakeHost;
using testing_support::FakeIntake;
using us_lab4a::Answer;
using us_lab4a::AnswerParser;
using us_lab4a::MessageType;
using us_lab4a::Request;
using us_lab4a_simulator::SimulatedArray;

/// A 32-bit number, big-endian.
std::string big(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}
std::string message(std::uint32_t type, const std::string& values = {}) {
  return big(type) + big(static_cast<std::uint32_t>(values.size())) + values;
}
std::string text(const std::string& words) {
  return big(static_cast<std::uint32_t>(words.size())) + words;
}

TEST(UsLab4aMessages, AreBigEndianWithTypesThatCountFrom2001) {
  EXPECT_EQ(Request(MessageType::connect_request).add(us_lab4a::protocol_version).bytes(),
            "\x00\x00\x07\xD1\x00\x00\x00\x04\x00\x00\x03\xEE"s);
  EXPECT_EQ(Request(MessageType::set_active_transmit_elements).add("0100").bytes(),
            "\x00\x00\x07\xE1\x00\x00\x00\x08\x00\x00\x00\x04"
            "0100"s);
  EXPECT_EQ(Request(MessageType::set_gain).add(1.5F).bytes(), "\x00\x00\x07\xE4\x00\x00\x00\x04\x3F\xC0\x00\x00"s);
  const std::vector<float> delays{0.0F, -2.0F};
  EXPECT_EQ(Request(MessageType::set_transmit_delays).add(std::span<const float>(delays)).bytes(),
            "\x00\x00\x07\xE7\x00\x00\x00\x0C\x00\x00\x00\x02\x00\x00\x00\x00\xC0\x00\x00\x00"s);
  EXPECT_EQ(Request(MessageType::post_loop_configuration).bytes(), message(2027));
}

/// What a parser makes of bytes that come in such pieces: types, with the values as they are.
std::vector<std::string> answers_in(const std::string& bytes, std::size_t piece, std::string* broken = nullptr) {
  AnswerParser parser(512);
  std::vector<std::string> answers;
  for (std::size_t at = 0; at < bytes.size() && parser.broken().empty();) {
    const auto room = parser.room();
    const std::size_t count = std::min({piece, bytes.size() - at, room.size()});
    std::memcpy(room.data(), bytes.data() + at, count);
    parser.commit(count);
    at += count;
    while (const auto answer = parser.next()) {
      answers.push_back(std::to_string(static_cast<std::uint32_t>(answer->type)) + ":" +
                        std::string(reinterpret_cast<const char*>(answer->values.data()), answer->values.size()));
    }
  }
  if (broken != nullptr) *broken = parser.broken();
  return answers;
}

TEST(UsLab4aMessages, AreReadHoweverTheyAreCut) {
  const std::string bytes = message(2003) + message(2004, text("no")) + message(2008, big(2) + "\x01\x02\xFF\xFE"s);
  const std::vector<std::string> expected{"2003:", "2004:" + text("no"), "2008:" + big(2) + "\x01\x02\xFF\xFE"s};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) EXPECT_EQ(answers_in(bytes, piece), expected) << piece;
  std::string broken;
  for (const std::string& bad : {message(2001), message(2015), big(2008) + big(505), big(2003) + big(0xFFFFFFFF)}) {
    EXPECT_TRUE(answers_in(bad, 3, &broken).empty());
    EXPECT_THAT(broken, HasSubstr("expected an answer of at most 512 bytes"));
  }
}

Answer answer_of(MessageType type, const std::string& values) {
  return {type, std::as_bytes(std::span(values))};
}

TEST(UsLab4aMessages, ThatAreNotAsLongAsTheirValuesAreNamed) {
  const std::string four = big(0x40490FDB), samples = big(2) + "\x01\x02\xFF\xFE"s, words = text("too\nhot");
  EXPECT_EQ(us_lab4a::number_in(answer_of(MessageType::signal_length, four)), 0x40490FDBU);
  EXPECT_FLOAT_EQ(us_lab4a::real_in(answer_of(MessageType::sampling_frequency, four)), 3.14159274F);
  EXPECT_EQ(us_lab4a::text_in(answer_of(MessageType::error, words)), "too?hot");
  std::vector<std::int16_t> counts(2);
  us_lab4a::swap_samples(us_lab4a::samples_in(answer_of(MessageType::signal, samples), 2),
                         std::as_writable_bytes(std::span(counts)));
  EXPECT_THAT(counts, testing::ElementsAre(0x0102, -2));
  const std::string none, odd = big(3) + "\x01\x02\xFF\xFE"s, longer = big(0xFFFFFFFF) + "a";
  EXPECT_THROW(static_cast<void>(us_lab4a::number_in(answer_of(MessageType::signal_length, none))), InputError);
  EXPECT_THROW(static_cast<void>(us_lab4a::sample_in(answer_of(MessageType::largest_sample, four))), InputError);
  EXPECT_THROW(static_cast<void>(us_lab4a::samples_in(answer_of(MessageType::signal, odd), 2)), InputError);
  EXPECT_THROW(static_cast<void>(us_lab4a::samples_in(answer_of(MessageType::signal, samples), 3)), InputError);
  EXPECT_THROW(static_cast<void>(us_lab4a::text_in(answer_of(MessageType::error, longer))), InputError);
}

SimulatorConfiguration scene() {
  SimulatorConfiguration configuration;
  configuration.elements = 4;
  configuration.cycle_frames = 2;
  return configuration;
}

/// What it says to a message.
std::string said(SimulatedArray& array, const std::string& bytes) {
  array.outbox.clear();
  array.hear(bytes, SteadyTime{0});
  return {array.outbox.begin(), array.outbox.end()};
}
std::string refused(const std::string& why) {
  return message(2004, text(why));
}

TEST(UsLab4aSimulator, IsStrict) {
  SimulatedArray array(scene());
  const std::string good = message(2003), rate = big(0x4C189680);  // 40e6
  EXPECT_EQ(said(array, message(2024)), refused("not connected"));
  EXPECT_EQ(said(array, message(2001, big(1005))), refused("Invalid protocol version."));
  EXPECT_EQ(said(array, message(2001, big(1006)).substr(0, 5)), "");
  EXPECT_EQ(said(array, message(2001, big(1006)).substr(5)), good);
  EXPECT_EQ(said(array, message(2022, rate)), refused("this is set between pre-configuration and post-configuration"));
  EXPECT_EQ(said(array, message(2007)), refused("it has not been configured"));
  EXPECT_EQ(said(array, message(2024)), good);
  EXPECT_THAT(said(array, message(2025)), HasSubstr("are to be set first"));
  EXPECT_EQ(said(array, message(2022, rate)), good);
  EXPECT_EQ(said(array, message(2022, rate + "x")), refused("the values have another length"));
  EXPECT_THAT(said(array, message(2022, big(0x7FC00000))), HasSubstr("nan is out of range"));
  EXPECT_EQ(said(array, message(2015, big(0x37D1B717))), good);  // 25e-6
  EXPECT_EQ(said(array, message(2019, big(0x4A989680) + big(1))), good);
  EXPECT_EQ(said(array, message(2016, text("11111"))), refused("a mask of 5 elements, of which there are 4"));
  EXPECT_EQ(said(array, message(2016, text("1112"))), refused("a mask of other letters than 0 and 1"));
  EXPECT_EQ(said(array, message(2016, text("0000"))), refused("a mask without an element"));
  EXPECT_EQ(said(array, message(2016, big(0xFFFFFFFF) + "1")), refused("the values have another length"));
  EXPECT_EQ(said(array, message(2016, text("1111"))), good);
  EXPECT_EQ(said(array, message(2018, big(4))), refused("base element 4, of 4 elements"));
  EXPECT_EQ(said(array, message(2023, big(0))), refused("delays are not simulated: elements fire alone"));
  EXPECT_EQ(said(array, message(2025)), good);
  EXPECT_EQ(said(array, message(2013)), message(2014, rate));
  EXPECT_EQ(said(array, message(2005)), message(2006, big(1000)));
  EXPECT_EQ(said(array, message(2009) + message(2011)), message(2010, "\x07\xFF"s) + message(2012, "\xF8\x00"s));
  EXPECT_EQ(said(array, message(2007)), refused("an element fires alone"));
  EXPECT_EQ(said(array, message(2006)), refused("2006 is an answer"));
  EXPECT_EQ(said(array, message(2017, text("0010"))), good);
  EXPECT_EQ(said(array, message(2007)).size(), 8 + 4 + 2 * 4 * 1000U);
  EXPECT_FALSE(array.hangs_up());
  EXPECT_EQ(said(array, message(2028)), "");
  EXPECT_TRUE(array.hangs_up());
  array.greet();
  EXPECT_EQ(said(array, message(2013)), refused("not connected"));
  EXPECT_EQ(said(array, message(2001, big(1006)) + message(2002)), good);
  EXPECT_TRUE(array.hangs_up());
}

TEST(UsLab4aSimulator, MakesNoMoreSignalsThanAreRead) {
  SimulatedArray array(scene());
  static_cast<void>(said(array, message(2001, big(1006)) + message(2024) + message(2022, big(0x4C189680)) +
                                    message(2015, big(0x37D1B717)) + message(2019, big(0x4A989680) + big(1)) +
                                    message(2016, text("1111")) + message(2025) + message(2017, text("0010"))));
  constexpr std::size_t asked = 300, signal = 8 + 4 + 2 * 4 * 1000;
  std::string many;
  for (std::size_t k = 0; k < asked; ++k) many += message(2007);
  std::size_t bytes = 0;
  array.outbox.clear();
  for (bool more = array.hear(many, SteadyTime{0}); more; more = array.hear({}, SteadyTime{0})) {
    EXPECT_LT(array.outbox.size(), SimulatedArray::most_unsent + signal);
    ASSERT_FALSE(array.outbox.empty());
    bytes += array.outbox.size();
    array.outbox.clear();
  }
  EXPECT_EQ(bytes + array.outbox.size(), asked * signal);
}

/// An array whose server hangs up amid every second frame.
class UnsteadyArray final : public SimulatedPeer {
 public:
  void greet() override {
    array_.greet();
    outbox.clear();
    said_ = 0;
  }
  bool hear(std::string_view text, SteadyTime now) override {
    const bool more = array_.hear(text, now);
    outbox.insert(outbox.end(), array_.outbox.begin(), array_.outbox.end());
    said_ += array_.outbox.size();
    array_.outbox.clear();
    return more;
  }
  [[nodiscard]] bool hangs_up() const override { return array_.hangs_up() || said_ > signals * (12 + 2 * 4 * 300); }
  [[nodiscard]] const std::string& doubt() const noexcept override { return array_.doubt(); }
  [[nodiscard]] std::uint64_t frames() const noexcept override { return array_.frames(); }

 private:
  static constexpr std::size_t signals = 6;
  SimulatedArray array_{scene()};
  std::size_t said_ = 0;
};

class UsLab4aSource : public testing::Test {
 protected:
  void start(us_lab4a::SourceOptions options) {
    if (!array_) array_ = std::make_unique<SimulatedArray>(scene());
    server_ = std::make_unique<InstrumentServer>("127.0.0.1", 0, *array_);
    serving_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
    options.port = server_->port();
    options.answer_timeout = std::chrono::minutes(2);
    options.pauses = {.first = std::chrono::milliseconds(5), .longest = std::chrono::milliseconds(20)};
    source_ = make_us_lab4a_source(options, clock_, "test");
    source_->start(host_);
  }
  static us_lab4a::SourceOptions full() {
    us_lab4a::SourceOptions options;
    options.acquisition.probe = make_linear_probe(4, Metres(0.6e-3), Metres{}, Hertz(5e6), Hertz{});
    options.sample_rate = 50e6;
    options.acquisition_time = 6e-6;
    options.gain = 46.0;
    return options;
  }

  /// Knows its intake without its session, which the source draws.
  class Host final : public StreamHost {
   public:
    std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) override {
      auto opened = host_.open_stream(session, acquisition);
      const std::lock_guard lock(mutex_);
      latest_ = host_.intake(session);
      return opened;
    }
    [[nodiscard]] std::shared_ptr<FakeIntake> latest() const {
      const std::lock_guard lock(mutex_);
      return latest_;
    }
    [[nodiscard]] std::uint64_t frames() const {
      const auto intake = latest();
      return intake ? intake->frames.load() : 0;
    }

   private:
    FakeHost host_;
    mutable std::mutex mutex_;
    std::shared_ptr<FakeIntake> latest_;
  };

  SystemClock clock_;
  Host host_;
  std::unique_ptr<SimulatedPeer> array_;
  std::unique_ptr<InstrumentServer> server_;
  std::jthread serving_;
  std::unique_ptr<AcquisitionSource> source_;  // ends first
};

/// As frame 0 or 1 of the scene is made elsewhere.
std::vector<std::int16_t> simulated(std::uint64_t number, const Acquisition& acquisition, double gain_db) {
  SimulatorConfiguration configuration = scene();
  configuration.samples = acquisition.samples;
  configuration.sample_rate = acquisition.sample_rate;
  configuration.start_time = Seconds{};
  configuration.full_scale *= std::pow(10.0, (40.0 - gain_db) / 20.0);
  for (const TransmitEvent& event : acquisition.events) configuration.events.push_back(event);
  std::vector<std::int16_t> counts(acquisition.a_scans() * acquisition.samples);
  FmcSimulator(configuration).synthesise(number, std::as_writable_bytes(std::span(counts)));
  return counts;
}

std::vector<std::int16_t> counts_of(const FakeIntake& intake, std::uint64_t sequence) {
  const auto bytes = intake.samples(sequence);
  std::vector<std::int16_t> counts(bytes.size() / 2);
  std::memcpy(counts.data(), bytes.data(), bytes.size());
  return counts;
}

TEST_F(UsLab4aSource, HasTheSimulatedFullMatrix) {
  start(full());
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 2; }));
  source_->stop();
  const auto intake = host_.latest();
  EXPECT_EQ(intake->acquisition().samples, 300U);
  EXPECT_EQ(intake->acquisition().sample_scale, 1.0 / 2048);
  EXPECT_EQ(counts_of(*intake, 0), simulated(0, intake->acquisition(), 46.0));
  EXPECT_EQ(counts_of(*intake, 1), simulated(1, intake->acquisition(), 46.0));
  EXPECT_EQ(source_->counters().decode_errors_total(), 0U);
  EXPECT_EQ(source_->last_rejection(), "");
}

TEST_F(UsLab4aSource, HasThoseElementsThatFire) {
  us_lab4a::SourceOptions options = full();
  options.acquisition.events = element_events(std::vector<std::uint32_t>{0, 3});
  start(options);
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 1; }));
  source_->stop();
  EXPECT_EQ(counts_of(*host_.latest(), 0), simulated(0, host_.latest()->acquisition(), 46.0));
}

TEST_F(UsLab4aSource, SaysWhatIsRefused) {
  us_lab4a::SourceOptions options = full();
  options.base_element = 7;
  start(options);
  ASSERT_TRUE(eventually([&] { return !source_->last_rejection().empty(); }));
  EXPECT_THAT(source_->last_rejection(),
              HasSubstr("the instrument refuses 2018 (set base element): base element 7, of 4 elements"));
  EXPECT_EQ(host_.latest(), nullptr);
}

TEST_F(UsLab4aSource, AsksForNothingThatThePipelineHasNoPlaceForAndConnectsAnew) {
  start(full());
  ASSERT_TRUE(eventually([&] { return host_.frames() >= 1; }));
  host_.latest()->block();
  ASSERT_TRUE(eventually([&] { return host_.latest()->waits >= 2; }));
  host_.latest()->unblock();
  const std::uint64_t before = host_.frames();
  ASSERT_TRUE(eventually([&] { return host_.frames() >= before + 2; }));
  EXPECT_EQ(host_.latest()->abandoned, 0U);
  const std::uint16_t port = server_->port();
  serving_.request_stop();
  serving_.join();
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_lost >= 1; }));
  const std::uint64_t lost = host_.frames();
  server_.reset();
  server_ = std::make_unique<InstrumentServer>("127.0.0.1", port, *array_);
  serving_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
  EXPECT_TRUE(eventually([&] { return host_.frames() >= lost + 2; }));
}

TEST_F(UsLab4aSource, BeginsNoFrameAnewThatBrokeOff) {
  array_ = std::make_unique<UnsteadyArray>();
  start(full());
  ASSERT_TRUE(eventually([&] { return source_->counters().connections_lost >= 3; }));
  source_->stop();
  EXPECT_GE(host_.frames(), 3U);
  EXPECT_EQ(host_.latest()->repeated, 0U);
}

TEST_F(UsLab4aSource, TakesElementsThatFireAloneAndAllRecordOnly) {
  us_lab4a::SourceOptions options = full();
  options.acquisition.matrix = MatrixKind::half;
  EXPECT_THROW(static_cast<void>(make_us_lab4a_source(options, clock_, "test")), InputError);
  options = full();
  options.acquisition.events = {{.form = plane_wave(0.1, MetresPerSecond(6320.0)), .receivers = {}}};
  EXPECT_THROW(static_cast<void>(make_us_lab4a_source(options, clock_, "test")), InputError);
}

}  // namespace
}  // namespace echoform
