// The bytes that WIRE.md shows are the bytes that the code makes, and those that the decoder takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "acquisition/firings.hpp"
#include "tests/support/places.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/decoder.hpp"

namespace echoform {
namespace {

using namespace testing_support;

/// The example of WIRE.md: four elements, six samples, packed 12 bit.
Acquisition example() {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(4, Metres(0.0005), Metres(0.00045), Hertz(5e6), Hertz(3e6));
  acquisition.encoding = SampleEncoding::packed12;
  acquisition.samples = 6;
  acquisition.sample_rate = Hertz(50e6);
  acquisition.start_time = Seconds(1e-6);
  return acquisition;
}

/// Receiver r, sample n: 100 (6 r + n) - 1000.
int example_sample(int receiver, int n) {
  return 100 * (6 * receiver + n) - 1000;
}

Bytes example_payload() {
  Bytes payload;
  for (int receiver = 0; receiver < 4; ++receiver) {
    for (int n = 0; n < 6; n += 2) {
      const auto first = static_cast<unsigned>(example_sample(receiver, n)) & 0xFFFU;
      const auto second = static_cast<unsigned>(example_sample(receiver, n + 1)) & 0xFFFU;
      payload.push_back(static_cast<std::byte>(first));
      payload.push_back(static_cast<std::byte>(first >> 8 | second << 4));
      payload.push_back(static_cast<std::byte>(second >> 4));
    }
  }
  return payload;
}

Bytes example_hello() {
  return hello_message(
      example(),
      {.session = 0x1122334455667788, .connection_index = 0, .connection_count = 1, .sender = "example 1.0", .token = {}});
}
Bytes example_events_hello(std::vector<TransmitEvent> events) {
  Acquisition acquisition = example();
  acquisition.events = std::move(events);
  return hello_message(
      acquisition,
      {.session = 0x1122334455667788, .connection_index = 0, .connection_count = 1, .sender = "example 1.0", .token = {}});
}
/// A plane wave at 10 degrees in aluminium, another with all that may be left out, a virtual source and a law.
std::vector<TransmitEvent> example_waves() {
  const double slowness = std::sin(10.0 * std::numbers::pi / 180.0) / 6320.0;
  return {{PlaneWaveEvent{slowness, 0.0, std::nullopt, {}}, {}},
          {PlaneWaveEvent{-slowness, 0.0, Seconds(1e-6), {1, 2, 3}}, {0, 1}},
          {PointWaveEvent{{Metres(0.0), Metres(0.0), Metres(-0.02)}, MetresPerSecond(6320.0), std::nullopt, {}}, {}},
          {LawEvent{{1, 2}, {0.0F, 2.5e-8F}, {1.0F, 0.5F}}, {}}};
}
Bytes example_shot(std::uint64_t session = 0, std::optional<EncoderCount> position = {}) {
  std::array<std::byte, maximum_encoded_shot_bytes> header{};
  const Bytes payload = example_payload();
  const ShotHeader shot{
      .sequence = 300, .transmit = 2, .acquisition_time = WallTime(1'700'000'000'123'456'789), .position = position};
  const std::size_t size = encode_shot(header, shot, payload.size(), session);
  return Bytes(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(size)) + payload;
}

std::string dump(const Bytes& bytes) {
  std::string text;
  for (std::size_t line = 0; line < bytes.size(); line += 16) {
    text += fmt::format("{:04x} ", line);
    for (std::size_t i = line; i < std::min(line + 16, bytes.size()); ++i)
      text += fmt::format(" {:02x}", std::to_integer<int>(bytes[i]));
    text += '\n';
  }
  return text;
}

/// The fenced block after the line "<!-- dump: NAME -->".
std::string block(const std::string& name) {
  std::ifstream file(test::source_directory() / "proto/WIRE.md");
  std::string line;
  while (std::getline(file, line) && line != "<!-- dump: " + name + " -->") {
  }
  std::getline(file, line);
  std::string text;
  while (std::getline(file, line) && line != "```") text += line + '\n';
  return text;
}

TEST(WireDocument, ShowsTheHelloThatTheCodeMakes) {
  EXPECT_EQ(block("hello"), dump(example_hello()));
}
TEST(WireDocument, ShowsTheHelloOfEventsThatTheCodeMakes) {
  EXPECT_EQ(block("events_hello"), dump(example_events_hello(element_events(std::vector<std::uint32_t>{3, 0}))));
}
TEST(WireDocument, ShowsTheHelloOfWavesThatTheCodeMakes) {
  EXPECT_EQ(block("waves_hello"), dump(example_events_hello(example_waves())));
}
TEST(WireDocument, ShowsTheHelloOfCodesThatTheCodeMakes) {
  EXPECT_EQ(block("codes_hello"), dump(example_events_hello(hadamard_events(4))));
}
/// The plane wave of 10 degrees at two positions, at the second of which the probe is turned about y.
Acquisition example_at_positions() {
  Acquisition acquisition = example();
  acquisition.positions = {{}, {{Metres(0.002), Metres(0.0), Metres(-0.001)}, {0.8, 0.0, 0.6}, {0.0, 1.0, 0.0}}};
  for (const std::uint32_t position : {0U, 1U}) {
    acquisition.events.push_back(example_waves()[0]);
    acquisition.events.back().position = position;
  }
  return acquisition;
}
TEST(WireDocument, ShowsTheHelloOfPositionsThatTheCodeMakes) {
  const Bytes bytes = hello_message(
      example_at_positions(),
      {.session = 0x1122334455667788, .connection_index = 0, .connection_count = 1, .sender = "example 1.0", .token = {}});
  EXPECT_EQ(block("positions_hello"), dump(bytes));
}
/// Four detectors around the origin that face it; two wavelengths, of which the second is recorded by two.
Acquisition example_of_light() {
  Acquisition acquisition = example();
  acquisition.probe = make_linear_probe(4, Metres(0.0), Metres(0.001), Hertz(5e6), Hertz(3e6));
  constexpr std::array<std::array<double, 2>, 4> at{{{1.0, 0.0}, {-1.0, 0.0}, {0.0, 1.0}, {0.0, -1.0}}};  // x, z
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto [x, z] = at[i];
    acquisition.probe.elements[i].centre = {Metres(0.04 * x), Metres(0.0), Metres(0.04 * z)};
    acquisition.probe.elements[i].normal = {x == 0.0 ? 0.0 : -x, 0.0, z == 0.0 ? 0.0 : -z};  // no -0 among the bytes
  }
  acquisition.events = {{PassiveEvent{Metres(750e-9), 0.0}, {}}, {PassiveEvent{Metres(850e-9), 0.012}, {3, 0}}};
  return acquisition;
}
TEST(WireDocument, ShowsTheHelloOfPassiveEventsThatTheCodeMakes) {
  const Bytes bytes = hello_message(
      example_of_light(),
      {.session = 0x1122334455667788, .connection_index = 0, .connection_count = 1, .sender = "example 1.0", .token = {}});
  EXPECT_EQ(block("passive_hello"), dump(bytes));
}
/// The number in the row of the document that begins with `name`.
double stated(const std::string& name) {
  std::ifstream file(test::source_directory() / "proto/WIRE.md");
  std::string line;
  while (std::getline(file, line)) {
    const std::string row = "| " + name + " | ";
    if (line.starts_with(row)) return std::stod(line.substr(row.size()));
  }
  ADD_FAILURE() << "no row " << name;
  return 0.0;
}

/// What the document reckons with: when each element fires, and where an echo lies, by plain trigonometry and by the code's
/// firings.
TEST(WireDocument, TimesOfItsPlaneWaveAreThoseOfTheFirings) {
  Acquisition acquisition = example();
  acquisition.events = example_waves();
  const auto firings = firings_of(acquisition, 0);
  ASSERT_EQ(firings.size(), 4U);
  const double slowness = std::sin(10.0 * std::numbers::pi / 180.0) / 6320.0;
  // The document rounds to hundredths of a nanosecond, and the sample to hundredths.
  for (std::size_t e = 0; e < 4; ++e) {
    EXPECT_NEAR(firings[e].delay, slowness * 0.5e-3 * static_cast<double>(e), 1e-18);
    EXPECT_NEAR(stated(fmt::format("element {} fires", e)), 1e9 * firings[e].delay, 0.005);
  }
  const double passes_origin = slowness * 0.75e-3;
  const double transmit = passes_origin + 0.01 * std::cos(10.0 * std::numbers::pi / 180.0) / 6320.0;
  const double receive = std::hypot(0.01, 0.25e-3) / 6320.0;
  EXPECT_NEAR(stated("the wave passes the origin"), 1e9 * passes_origin, 0.005);
  EXPECT_NEAR(stated("the wave reaches p"), 1e9 * transmit, 0.005);
  EXPECT_NEAR(stated("the echo reaches element 2"), 1e9 * (transmit + receive), 0.005);
  EXPECT_NEAR(stated("which is sample"), (transmit + receive - 1e-6) * 50e6, 0.005);
  // The wave meets p no earlier than any element's own.
  for (const Firing& firing : firings) {
    const double x = acquisition.probe.elements[firing.element].centre.x.value;
    EXPECT_GE(firing.delay + std::hypot(0.01, x) / 6320.0, transmit - 1e-15);
  }
}
TEST(WireDocument, ShowsTheShotThatTheCodeMakes) {
  EXPECT_EQ(block("shot"), dump(example_shot()));
}
TEST(WireDocument, ShowsTheShotOverZeromqThatTheCodeMakes) {
  EXPECT_EQ(block("zeromq_shot"), dump(example_shot(0x1122334455667788)));
}
TEST(WireDocument, ShowsTheShotWithAPositionThatTheCodeMakes) {
  EXPECT_EQ(block("position_shot"), dump(example_shot(0, -1200)));
}
TEST(WireDocument, ShowsTheEndThatTheCodeMakes) {
  EXPECT_EQ(block("end"), dump(encode_message(MessageType::end, {})));
}

TEST(WireDocument, ItsBytesAreTaken) {
  AcquisitionDecoder decoder;
  Bytes place(36);
  std::vector<DecodeEvent> events;
  std::vector<std::optional<EncoderCount>> positions;
  const Bytes bytes = example_hello() + example_shot() + example_shot(0, -1200) + encode_message(MessageType::end, {});
  for (std::size_t at = 0; at <= bytes.size();) {
    const DecodeEvent event = decoder.next();
    if (event == DecodeEvent::need_bytes) {
      ASSERT_LT(at, bytes.size());
      decoder.read_targets()[0][0] = bytes[at++];
      decoder.commit(1);
      continue;
    }
    events.push_back(event);
    if (event == DecodeEvent::hello) {
      const ReadHello read = read_hello_header(decoder.hello_header(), {}, {});
      ASSERT_TRUE(read.contents) << read.error.text;
      EXPECT_TRUE(read.contents->acquisition == example());
      decoder.accept(FrameLayout(example()));
    } else if (event == DecodeEvent::shot) {
      positions.push_back(decoder.shot().position);
      decoder.receive_payload(place);
    } else if (event != DecodeEvent::shot_complete) {
      break;
    }
  }
  EXPECT_EQ(events, (std::vector{DecodeEvent::hello, DecodeEvent::shot, DecodeEvent::shot_complete, DecodeEvent::shot,
                                 DecodeEvent::shot_complete, DecodeEvent::end}))
      << decoder.error().text;
  EXPECT_EQ(positions, (std::vector<std::optional<EncoderCount>>{std::nullopt, -1200}));
  EXPECT_EQ(place, example_payload());
}

}  // namespace
}  // namespace echoform
