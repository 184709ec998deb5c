// The bytes that WIRE.md shows are the bytes that the code makes, and those that the decoder takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/places.hpp"
#include "tests/transport_acquisition/messages.hpp"
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
Bytes example_events_hello() {
  Acquisition acquisition = example();
  acquisition.events = element_events(std::vector<std::uint32_t>{3, 0});
  return hello_message(
      acquisition,
      {.session = 0x1122334455667788, .connection_index = 0, .connection_count = 1, .sender = "example 1.0", .token = {}});
}
Bytes example_shot(std::uint64_t session = 0) {
  std::array<std::byte, maximum_encoded_shot_bytes> header{};
  const Bytes payload = example_payload();
  const std::size_t size = encode_shot(
      header, {.sequence = 300, .transmit = 2, .acquisition_time = WallTime(1'700'000'000'123'456'789)}, payload.size(), session);
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
  EXPECT_EQ(block("events_hello"), dump(example_events_hello()));
}
TEST(WireDocument, ShowsTheShotThatTheCodeMakes) {
  EXPECT_EQ(block("shot"), dump(example_shot()));
}
TEST(WireDocument, ShowsTheShotOverZeromqThatTheCodeMakes) {
  EXPECT_EQ(block("zeromq_shot"), dump(example_shot(0x1122334455667788)));
}
TEST(WireDocument, ShowsTheEndThatTheCodeMakes) {
  EXPECT_EQ(block("end"), dump(encode_message(MessageType::end, {})));
}

TEST(WireDocument, ItsBytesAreTaken) {
  AcquisitionDecoder decoder;
  Bytes place(36);
  std::vector<DecodeEvent> events;
  const Bytes bytes = example_hello() + example_shot() + encode_message(MessageType::end, {});
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
      EXPECT_TRUE(read_hello(decoder.hello(), {}).acquisition == example());
      decoder.accept(example());
    } else if (event == DecodeEvent::shot) {
      decoder.receive_payload(place);
    } else if (event != DecodeEvent::shot_complete) {
      break;
    }
  }
  EXPECT_EQ(events, (std::vector{DecodeEvent::hello, DecodeEvent::shot, DecodeEvent::shot_complete, DecodeEvent::end}))
      << decoder.error().text;
  EXPECT_EQ(place, example_payload());
}

}  // namespace
}  // namespace echoform
