// What a MicroPulse is told, and what it sends, without sockets: against lists of lines and bytes that are written out here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/errors.hpp"
#include "instruments/micropulse/command_writer.hpp"
#include "instruments/micropulse/frame_builder.hpp"
#include "instruments/micropulse/reply_parser.hpp"
#include "instruments/micropulse/sample_decoder.hpp"
#include "tests/formats/scratch.hpp"
#include "tests/support/input_error.hpp"
#include "tests/transport_acquisition/fake_host.hpp"

namespace echoform::micropulse {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Acquisition probe_of(std::size_t elements, std::size_t samples) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres{}, Hertz(5e6), Hertz{});
  acquisition.samples = samples;
  return acquisition;
}

InstrumentSettings some_settings() {
  InstrumentSettings settings;
  settings.sample_rate_mhz = 25;
  settings.gain_db = 36.25;
  settings.gate_start = 100;
  settings.pulse_repetition = 2000;
  settings.pulse_voltage = 150;
  settings.pulse_width = 80;
  settings.filter = 2;
  settings.averages_log2 = 3;
  return settings;
}

TEST(MicropulseCommands, AreThoseOfAFullMatrix) {
  const auto settings = some_settings();
  const auto acquisition = instrument_acquisition(probe_of(3, 400), settings, "here");
  EXPECT_EQ(reset_command(settings), "RST 25");
  const std::vector<std::string> expected{
      "DXN 0 0",         "DLYS 0 0",       "DOF 4",         "PRF 2000",     "TXF 1 0 -1",  "TXF 1 1 0",  "RXF 1 0 -1 0",
      "RXF 1 1 0 0",     "RXF 1 2 0 0",    "RXF 1 3 0 0",   "TXN 256 1",    "RXN 256 1",   "TXF 2 0 -1", "TXF 2 2 0",
      "RXF 2 0 -1 0",    "RXF 2 1 0 0",    "RXF 2 2 0 0",   "RXF 2 3 0 0",  "TXN 257 2",   "RXN 257 2",  "TXF 3 0 -1",
      "TXF 3 3 0",       "RXF 3 0 -1 0",   "RXF 3 1 0 0",   "RXF 3 2 0 0",  "RXF 3 3 0 0", "TXN 258 3",  "RXN 258 3",
      "SWP 1 256 - 258", "DIS 0",          "DISS 0",        "ENA 256",      "ENAS 1",      "GAN 0 145",  "GANS 0 145",
      "GAT 0 100 500",   "GATS 0 100 500", "PAV 1 128 150", "PAW 1 128 80", "FRQS 0 2 0",  "AWF 0 1",    "AWFS 0 1",
      "AMP 0 13 3",      "AMPS 0 13 3",    "ETM 1 0"};
  EXPECT_THAT(setup_commands(acquisition, settings), ElementsAreArray(expected));
}

TEST(MicropulseCommands, OfHalfAMatrixReceiveFromTheFiringElementOn) {
  Acquisition wanted = probe_of(3, 400);
  wanted.matrix = MatrixKind::half;
  auto settings = some_settings();
  settings.first_channel = 33;
  const auto lines = setup_commands(instrument_acquisition(wanted, settings, "here"), settings);
  EXPECT_THAT(std::vector(lines.begin() + 13, lines.begin() + 19),
              ElementsAre("TXF 2 34 0", "RXF 2 0 -1 0", "RXF 2 34 0 0", "RXF 2 35 0 0", "TXN 257 2", "RXN 257 2"));
}

TEST(MicropulseCommands, OfSomeElementsFireThem) {
  Acquisition wanted = probe_of(4, 400);
  const std::vector<std::uint32_t> fire{3};
  wanted.events = element_events(fire);
  auto settings = some_settings();
  settings.commands = {"BKL 1 1"};
  const auto lines = setup_commands(instrument_acquisition(wanted, settings, "here"), settings);
  EXPECT_EQ(lines[5], "TXF 1 4 0");
  EXPECT_THAT(lines, testing::Contains("SWP 1 256"));
  EXPECT_EQ(lines.back(), "BKL 1 1");
}

TEST(MicropulseCommands, OfAPlaneWaveDelayItsElements) {
  Acquisition wanted = probe_of(3, 400);
  wanted.events = {{.form = plane_wave(std::numbers::pi / 6, MetresPerSecond(6000.0)), .receivers = {}}};
  const auto lines = setup_commands(instrument_acquisition(wanted, some_settings(), "here"), some_settings());
  // Neighbours are 0.6 mm sin(30 degrees) / 6000 m/s = 50 ns apart.
  EXPECT_THAT(std::vector(lines.begin() + 4, lines.begin() + 8),
              ElementsAre("TXF 1 0 -1", "TXF 1 1 0", "TXF 1 2 50", "TXF 1 3 100"));
}

TEST(MicropulseCommands, RefuseWhatTheInstrumentCannotDo) {
  const auto refused = [](auto change) {
    Acquisition wanted = probe_of(4, 400);
    InstrumentSettings settings = some_settings();
    change(wanted, settings);
    return test::input_error([&] { static_cast<void>(instrument_acquisition(wanted, settings, "here")); });
  };
  EXPECT_EQ(refused([](Acquisition& a, InstrumentSettings&) { a.samples = 8001; }),
            "here samples: found 8001; expected 2 to 8000");
  EXPECT_EQ(refused([](Acquisition&, InstrumentSettings& s) { s.gain_db = 36.3; }),
            "here gain: found 36.3; expected 0 to 70 dB in steps of 0.25");
  EXPECT_THAT(refused([](Acquisition& a, InstrumentSettings&) { a.events = hadamard_events(4); }), HasSubstr("has no weights"));
  EXPECT_THAT(refused([](Acquisition& a, InstrumentSettings&) {
                LawEvent law{.elements = {0}, .delays = {26e-6F}};
                a.events = {{.form = law, .receivers = {}}};
              }),
              HasSubstr("expected delays of 0 to 25 us"));
  EXPECT_THAT(refused([](Acquisition& a, InstrumentSettings&) { a.matrix = MatrixKind::half_summed; }), HasSubstr("half_summed"));
  EXPECT_THAT(refused([](Acquisition&, InstrumentSettings& s) { s.commands = {"GAN 0 1\rRST 25"}; }), HasSubstr("printable"));
}

std::vector<std::int16_t> decoded(const Bytes& raw, SampleBits bits, Justified justified) {
  std::vector<std::int16_t> counts(raw.size() / bytes_per_sample(bits));
  decode_samples(std::as_bytes(std::span(raw)), bits, justified, std::as_writable_bytes(std::span(counts)));
  return counts;
}

TEST(MicropulseSamples, AreOffsetBinary) {
  EXPECT_THAT(decoded({0x00, 0x80, 0xFF}, SampleBits::eight, Justified::high), ElementsAre(-128, 0, 127));
  EXPECT_THAT(decoded({0x00, 0x00, 0x00, 0x80, 0xFF, 0xFF}, SampleBits::sixteen, Justified::low), ElementsAre(-32768, 0, 32767));
  EXPECT_THAT(decoded({0x00, 0x00, 0x00, 0x02, 0xFF, 0x03}, SampleBits::ten, Justified::low), ElementsAre(-512, 0, 511));
  EXPECT_THAT(decoded({0x00, 0x00, 0x00, 0x08, 0xFF, 0xFF}, SampleBits::twelve, Justified::low), ElementsAre(-2048, 0, 2047));
  EXPECT_THAT(decoded({0x00, 0x00, 0x00, 0x80, 0xF0, 0xFF}, SampleBits::twelve, Justified::high), ElementsAre(-32768, 0, 32752));
}

TEST(MicropulseSamples, HaveFullScaleOne) {
  EXPECT_EQ(sample_scale(SampleBits::eight, Justified::high), 1.0 / 128);
  EXPECT_EQ(sample_scale(SampleBits::ten, Justified::low), 1.0 / 512);
  EXPECT_EQ(sample_scale(SampleBits::twelve, Justified::low), 1.0 / 2048);
  EXPECT_EQ(sample_scale(SampleBits::twelve, Justified::high), 1.0 / 32768);
  EXPECT_EQ(sample_scale(SampleBits::sixteen, Justified::low), 1.0 / 32768);
}

void operator+=(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// What an instrument says, with one of each message.
Bytes all_messages() {
  Bytes bytes{0x01, 0x01};                                                // left over
  bytes += {0x1A, 0x0C, 0x00, 0x00, 0xFF, 0x08, 0x04, 0x02, 1, 2, 3, 4};  // test 256, channel 2, two samples of 16 bits
  bytes += {0x06, 0x02};
  Bytes state{0x15, 0x00, 0x01, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0, 0, 0x80, 0, 0, 0, 9, 9, 9, 9};
  bytes += state;
  bytes +=
      {0x2D, 0x0E, 0x00, 0x00, 0x01, 0x00, 0x09, 0x21, 0x05, 7, 7, 0, 8, 9};  // test 257, channel 256 + 5, 8 bits, with a range
  bytes += {0x2D, 0x06, 0x00, 0x00, 0x43, 0x04};
  bytes += {0x2D, 0x05, 0x00, 0x00, 0x04};
  bytes += {0x13, 0x01, 1, 2, 3};
  bytes += {0x14, 0x81, 1, 2, 3};
  bytes += {0x1C, 0x09, 0x00, 0x00, 0, 0, 0, 0, 5};
  bytes += {0x00, 0x00, 0x00};
  bytes += {0x2D, 0x05, 0x00, 0x00, 0x03};
  Bytes reset(32);
  reset[0] = 0x23;
  reset[2] = 128;
  reset[4] = 0x50;
  reset[7] = 4;
  reset[9] = 25;
  reset[17] = 1;
  bytes += reset;
  return bytes;
}

std::string told(const Reply& reply) {
  std::string samples;
  for (const std::byte sample : reply.samples) samples += fmt::format(" {}", std::to_integer<int>(sample));
  return fmt::format("{}: test {} channel {} format {} samples{} axes {} {} {} {} array {} type {} at {} {}",
                     static_cast<int>(reply.kind), reply.test, reply.channel, reply.format, samples, reply.axes[0], reply.axes[1],
                     reply.axes[2], reply.axes[3], reply.array_channels, reply.type, reply.sample_rate_mhz, reply.text);
}

/// What the parser makes of bytes that come in pieces of these lengths, the last over and over.
std::vector<std::string> parsed(const Bytes& bytes, std::vector<std::size_t> pieces, std::size_t longest = 64) {
  ReplyParser parser(longest);
  std::vector<std::string> replies;
  std::size_t at = 0;
  for (std::size_t k = 0; at < bytes.size() && parser.broken().empty(); ++k) {
    const auto room = parser.room();
    const std::size_t piece = std::min({pieces[std::min(k, pieces.size() - 1)], bytes.size() - at, room.size()});
    EXPECT_GT(piece, 0U);
    std::memcpy(room.data(), bytes.data() + at, piece);
    parser.commit(piece);
    at += piece;
    while (const auto reply = parser.next()) replies.push_back(told(*reply));
  }
  if (!parser.broken().empty())
    replies.push_back(parser.broken());
  else if (parser.within_message())
    replies.push_back("within a message");
  return replies;
}

TEST(MicropulseReplies, AreReadMessageByMessage) {
  const auto replies = parsed(all_messages(), {1000});
  ASSERT_EQ(replies.size(), 12U);
  EXPECT_THAT(replies[0], HasSubstr(fmt::format("{}: ", static_cast<int>(ReplyKind::cycle_end))));
  EXPECT_THAT(replies[1], HasSubstr("test 256 channel 2 format 4 samples 1 2 3 4 "));
  EXPECT_THAT(replies[2], HasSubstr("an argument out of its limits (error 2)"));
  EXPECT_THAT(replies[3], HasSubstr("axes 1 -1 -8388608 0 "));
  EXPECT_THAT(replies[4], HasSubstr("test 257 channel 261 format 1 samples 8 9 "));
  EXPECT_THAT(replies[5], HasSubstr("an extended error: it is too hot (error 4) [04]"));
  EXPECT_THAT(replies[6], HasSubstr("synchronisation"));
  EXPECT_THAT(replies[7], HasSubstr("an inspection point"));
  EXPECT_THAT(replies[8], HasSubstr("a missed inspection point"));
  EXPECT_THAT(replies[9], HasSubstr("peak indications"));
  EXPECT_THAT(replies[10], HasSubstr(fmt::format("{}: ", static_cast<int>(ReplyKind::stopped))));
  EXPECT_THAT(replies[11], HasSubstr("array 128 type 5 at 25"));
}

TEST(MicropulseReplies, AreTheSameHoweverTheyAreCut) {
  const Bytes bytes = all_messages();
  const auto whole = parsed(bytes, {bytes.size()});
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    EXPECT_EQ(parsed(bytes, {piece}), whole) << piece;
    EXPECT_EQ(parsed(bytes, {piece, bytes.size()}), whole) << piece;
  }
}

TEST(MicropulseReplies, GoOnForeverInTheSameMemory) {
  // Enough to go round in the parser's memory several times.
  Bytes bytes;
  for (int k = 0; k < 100000; ++k) bytes += {0x1A, 0x0C, 0x00, 0x00, 0xFF, 0x08, 0x04, 0x02, 1, 2, 3, 4};
  EXPECT_EQ(parsed(bytes, {77777}).size(), 100000U);
}

TEST(MicropulseReplies, ThatCannotBeToldApartAreNamed) {
  EXPECT_THAT(parsed({0x06, 0x01, 0x77, 0x06, 0x01}, {9}).back(), HasSubstr("found the byte 77 where a message begins"));
  EXPECT_EQ(parsed({0x1A, 0x07, 0, 0}, {1}).back(), "the message 1A: found a length of 7 bytes; expected 8 to 64");
  EXPECT_EQ(parsed({0x1A, 0x41, 0, 0}, {1}).back(), "the message 1A: found a length of 65 bytes; expected 8 to 64");
  EXPECT_EQ(parsed({0x01, 0x02}, {1}).back(), "the end of a cycle: found 01 02; expected 01 01");
  EXPECT_THAT(parsed({0x28, 0x00}, {1}).back(), HasSubstr("not switched on"));
  EXPECT_EQ(parsed({0x1A, 0x0C, 0}, {1}).back(), "within a message");
}

/// A builder on an intake that keeps frames.
struct Building {
  explicit Building(Acquisition wanted, unsigned first_channel = 1) {
    settings.bits = SampleBits::eight;
    settings.first_channel = first_channel;
    acquisition = instrument_acquisition(std::move(wanted), settings, "here");
    intake = std::make_unique<testing_support::FakeIntake>(acquisition, 8);
    builder = std::make_unique<FrameBuilder>(*intake, intake->open_lane([] {}), acquisition, settings, 0, counters);
  }
  FrameBuilder::Outcome take(std::uint32_t test, std::uint32_t channel, std::uint8_t value, std::size_t samples = 2) {
    const Bytes raw(samples, value);
    Reply reply;
    reply.kind = ReplyKind::a_scan;
    reply.test = test;
    reply.channel = channel;
    reply.format = 1;
    reply.samples = std::as_bytes(std::span(raw));
    return builder->take(reply, WallTime(test), 7);
  }
  /// First samples of all rows.
  std::vector<int> frame(std::uint64_t sequence) const {
    const auto bytes = intake->samples(sequence);
    std::vector<int> values;
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      std::int16_t value = 0;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      values.push_back(value);
    }
    return values;
  }
  InstrumentSettings settings;
  Acquisition acquisition;
  LiveSourceCounters counters;
  std::unique_ptr<testing_support::FakeIntake> intake;
  std::unique_ptr<FrameBuilder> builder;
};

TEST(MicropulseFrames, AreMadeOfAScansInAnyOrderOfTheirChannels) {
  Building b(probe_of(2, 2));
  static_cast<void>(b.take(256, 1, 129));
  static_cast<void>(b.take(256, 0, 130));
  static_cast<void>(b.take(257, 0, 131));
  EXPECT_EQ(b.intake->frames, 0U);
  // One sample more than the gate has is passed over.
  static_cast<void>(b.take(257, 1, 132, 3));
  EXPECT_EQ(b.intake->frames, 1U);
  EXPECT_THAT(b.frame(0), ElementsAre(2, 1, 3, 4));
  EXPECT_THAT(b.intake->positions(0), testing::Each(std::optional<EncoderCount>(7)));
  EXPECT_EQ(b.builder->sequence, 1U);
}

TEST(MicropulseFrames, ThatLackAnAScanAreNotComplete) {
  Building b(probe_of(2, 2));
  static_cast<void>(b.take(256, 0, 129));
  static_cast<void>(b.take(257, 0, 129));
  static_cast<void>(b.take(257, 1, 129));
  EXPECT_EQ(b.intake->abandoned, 1U);
  EXPECT_EQ(b.intake->frames, 0U);
  for (const std::uint32_t test : {256U, 257U}) {
    for (const std::uint32_t channel : {0U, 1U}) static_cast<void>(b.take(test, channel, 140));
  }
  EXPECT_EQ(b.intake->frames, 1U);
  EXPECT_THAT(b.frame(1), ElementsAre(12, 12, 12, 12));
}

TEST(MicropulseFrames, BeginWhereTestsGoBack) {
  Building b(probe_of(2, 2));
  static_cast<void>(b.take(256, 0, 129));
  static_cast<void>(b.take(256, 1, 129));
  // The second event is missing.
  static_cast<void>(b.take(256, 0, 130));
  EXPECT_EQ(b.builder->sequence, 1U);
}

TEST(MicropulseFrames, PassOverWhatWasNotSetUp) {
  Building b(probe_of(2, 2), 5);
  for (const std::uint32_t channel : {0U, 3U, 6U}) EXPECT_EQ(b.take(256, channel, 129), FrameBuilder::Outcome::taken);
  EXPECT_EQ(b.take(255, 4, 129), FrameBuilder::Outcome::taken);
  EXPECT_EQ(b.take(258, 4, 129), FrameBuilder::Outcome::taken);
  EXPECT_EQ(b.builder->strays(), 5U);
  EXPECT_EQ(b.take(256, 4, 129), FrameBuilder::Outcome::taken);
  EXPECT_EQ(b.builder->strays(), 5U);
  EXPECT_THAT(test::input_error([&] { static_cast<void>(b.take(256, 5, 129, 4)); }),
              HasSubstr("found 4 bytes of samples; expected 2"));
}

/// Tests of a cycle of two events, and marks ('|') between them: "AB" is a whole one.
void send_cycles(Building& b, std::string_view what) {
  for (const char c : what) {
    if (c == '|') {
      b.builder->cycle_mark();
    } else {
      const std::uint32_t test = c == 'A' ? 256 : 257;
      for (const std::uint32_t channel : {0U, 1U}) EXPECT_EQ(b.take(test, channel, 129), FrameBuilder::Outcome::taken);
    }
  }
}

TEST(MicropulseFrames, HalvesOfTwoCyclesAreTwoFramesThatAreNotComplete) {
  for (const char* before : {"|AB|", "AB|"}) {  // the mark begins a cycle, or ends it
    Building b(probe_of(2, 2));
    send_cycles(b, before);
    send_cycles(b, "A|B|AB");
    EXPECT_EQ(b.builder->sequence, 4U) << before;
    EXPECT_EQ(b.intake->frames, 2U) << before;
  }
}

TEST(MicropulseFrames, AMarkThatIsAlwaysWithinTellsNothing) {
  Building b(probe_of(2, 2));
  send_cycles(b, "|A|BA|BA|B");
  EXPECT_EQ(b.intake->frames, 3U);
  EXPECT_EQ(b.builder->sequence, 3U);
}

TEST(MicropulseFrames, WaitForAPlace) {
  Building b(probe_of(1, 2));
  b.intake->block();
  EXPECT_EQ(b.take(256, 0, 129), FrameBuilder::Outcome::wait);
  EXPECT_EQ(b.take(256, 0, 129), FrameBuilder::Outcome::wait);
  b.intake->unblock();
  EXPECT_EQ(b.take(256, 0, 129), FrameBuilder::Outcome::taken);
  EXPECT_EQ(b.intake->frames, 1U);
  EXPECT_EQ(b.builder->sequence, 1U);
}

}  // namespace
}  // namespace echoform::micropulse
