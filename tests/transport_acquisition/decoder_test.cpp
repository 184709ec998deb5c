#include "transport/acquisition/decoder.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "acquisition/frame_layout.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/admission.hpp"

namespace echoform {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// Drives a decoder as a server does, from memory: `piece` says how many of the bytes that the targets could take come next.
struct Feeder {
  explicit Feeder(Acquisition described) : acquisition(std::move(described)), frame(acquisition.frame_bytes()) {}

  void feed(const Bytes& bytes, const std::function<std::size_t(std::size_t)>& piece) {
    std::size_t at = 0;
    while (events.empty() || (events.back() != DecodeEvent::failed && events.back() != DecodeEvent::end)) {
      const DecodeEvent event = decoder.next();
      if (event != DecodeEvent::need_bytes) {
        answer(event);
        continue;
      }
      if (at == bytes.size()) return;
      const auto targets = decoder.read_targets();
      std::size_t left = std::min(piece(bytes.size() - at), bytes.size() - at);
      std::size_t taken = 0;
      for (const auto target : targets) {
        const std::size_t here = std::min(left, target.size());
        if (here > 0) std::memcpy(target.data(), bytes.data() + at + taken, here);
        taken += here;
        left -= here;
      }
      ASSERT_GT(taken, 0U);
      at += taken;
      ++reads;
      decoder.commit(taken);
    }
  }

  void answer(DecodeEvent event) {
    events.push_back(event);
    if (event == DecodeEvent::hello) {
      const ReadHello read = read_hello_header(decoder.hello_header(), {}, {});
      if (read.contents) {
        decoder.accept(FrameLayout(acquisition));
      } else {
        decoder.fail(read.error.reason, read.error.text);
      }
    }
    if (event == DecodeEvent::shot) {
      shots.push_back(decoder.shot());
      if (discard) {
        decoder.discard_payload(scratch);
      } else {
        const std::size_t first = FrameLayout(acquisition).shot_bytes(decoder.shot().transmit).first;
        decoder.receive_payload(std::span(frame).subspan(first, decoder.payload_bytes()));
      }
    }
  }

  Acquisition acquisition;
  AcquisitionDecoder decoder;
  Bytes frame;
  Bytes scratch = Bytes(7);
  bool discard = false;
  std::vector<DecodeEvent> events;
  std::vector<ShotHeader> shots;
  std::size_t reads = 0;
};

struct Conversation {
  Acquisition acquisition = make_acquisition(3, 11, MatrixKind::half);
  Bytes frame = random_bytes(acquisition.frame_bytes(), 1);
  Bytes bytes;
  std::vector<std::size_t> boundaries;  // ends of messages

  Conversation() {
    add(hello_message(acquisition));
    for (const std::uint32_t transmit : {1U, 2U, 0U}) add(shot_message(5, transmit, shot_payload(acquisition, frame, transmit)));
    add(encode_message(MessageType::end, {}));
  }
  void add(const Bytes& message) {
    bytes = std::move(bytes) + message;
    boundaries.push_back(bytes.size());
  }
};

const std::vector<DecodeEvent> expected_events{
    DecodeEvent::hello,         DecodeEvent::shot, DecodeEvent::shot_complete, DecodeEvent::shot,
    DecodeEvent::shot_complete, DecodeEvent::shot, DecodeEvent::shot_complete, DecodeEvent::end};

void expect_whole(const Feeder& feeder, const Conversation& conversation) {
  EXPECT_EQ(feeder.events, expected_events) << feeder.decoder.error().text;
  ASSERT_EQ(feeder.shots.size(), 3U);
  EXPECT_EQ(feeder.shots[0].transmit, 1U);
  EXPECT_EQ(feeder.shots[2].transmit, 0U);
  EXPECT_EQ(feeder.shots[1].sequence, 5U);
  EXPECT_EQ(feeder.shots[1].acquisition_time.count(), 1234567);
  if (!feeder.discard) {
    EXPECT_EQ(feeder.frame, conversation.frame);
  }
}

TEST(Decoder, TakesPositionsAndKnowsNoneFromZero) {
  const Conversation conversation;
  wire::Shot shot;
  shot.set_sequence(5);
  Bytes bytes = hello_message(conversation.acquisition);
  const std::vector<std::optional<EncoderCount>> stated{std::nullopt, 0, -7};
  for (std::uint32_t transmit = 0; transmit < 3; ++transmit) {
    shot.set_transmit(transmit);
    if (stated[transmit]) shot.set_position(*stated[transmit]);
    const Bytes payload = shot_payload(conversation.acquisition, conversation.frame, transmit);
    bytes = std::move(bytes) + raw_message(4, shot.SerializeAsString(), payload.size(), payload);
  }
  Feeder feeder(conversation.acquisition);
  feeder.feed(bytes, [](std::size_t) { return std::size_t{64}; });
  ASSERT_EQ(feeder.shots.size(), 3U) << feeder.decoder.error().text;
  for (std::uint32_t transmit = 0; transmit < 3; ++transmit) EXPECT_EQ(feeder.shots[transmit].position, stated[transmit]);
  EXPECT_EQ(feeder.frame, conversation.frame);  // the same samples, whatever is stated besides
}

/// As servers of before this field have it: there 5 is a field that nobody knows.
TEST(Decoder, AFieldThatItDoesNotKnowLeavesAShotAsItIs) {
  const Conversation conversation;
  Bytes bytes = hello_message(conversation.acquisition);
  for (std::uint32_t transmit = 0; transmit < 3; ++transmit) {
    wire::Shot shot;
    shot.set_sequence(5);
    shot.set_transmit(transmit);
    const Bytes payload = shot_payload(conversation.acquisition, conversation.frame, transmit);
    // Field 7 in the place of field 5.
    bytes = std::move(bytes) + raw_message(4, shot.SerializeAsString() + "\x38\x0d", payload.size(), payload);
  }
  Feeder feeder(conversation.acquisition);
  feeder.feed(bytes, [](std::size_t) { return std::size_t{64}; });
  ASSERT_EQ(feeder.shots.size(), 3U) << feeder.decoder.error().text;
  EXPECT_EQ(feeder.shots[1].position, std::nullopt);
  EXPECT_EQ(feeder.frame, conversation.frame);
}

TEST(Decoder, TakesShotsOfEventsByTheirPlace) {
  Acquisition acquisition = make_acquisition(5, 11);
  acquisition.events = element_events(std::vector<std::uint32_t>{4, 1, 3});
  acquisition.events[1].receivers = {2, 0};
  const Bytes frame = random_bytes((5 + 2 + 5) * 11 * 2, 1);
  Bytes bytes = hello_message(acquisition);
  for (const std::uint32_t transmit : {1U, 2U, 0U}) {
    bytes = bytes + shot_message(5, transmit, shot_payload(acquisition, frame, transmit));
  }
  Feeder feeder(acquisition);
  feeder.feed(bytes + encode_message(MessageType::end, {}), [](std::size_t) { return 7; });
  EXPECT_EQ(feeder.events, expected_events) << feeder.decoder.error().text;
  EXPECT_EQ(feeder.frame, frame);

  Feeder stranger(acquisition);
  stranger.feed(bytes + shot_message(6, 3, Bytes(110)), [](std::size_t left) { return left; });
  EXPECT_EQ(stranger.decoder.error().text, "Shot transmit (frame 6): found 3; expected below the Hello's 3 events");
  EXPECT_EQ(stranger.decoder.error().reason, DecodeReason::bad_transmit);
  Feeder contradiction(acquisition);
  contradiction.feed(bytes + shot_message(6, 1, Bytes(110)), [](std::size_t left) { return left; });
  EXPECT_EQ(contradiction.decoder.error().text,
            "Shot payload (frame 6, transmit 1): found 110 bytes; expected 44 (2 A-scans of 22 bytes by the Hello)");
}

/// What a form states and this server does not know would be another wave: it is never skipped.
TEST(Decoder, RefusesWhatItDoesNotKnowOfAnEvent) {
  Acquisition acquisition = make_acquisition(5, 11);
  acquisition.events = {{plane_wave(0.1, MetresPerSecond(6320.0)), {}}, {plane_wave(0.2, MetresPerSecond(6320.0)), {}}};
  const auto answer = [&](auto change) {
    wire::Hello hello = wire_hello(acquisition);
    change(*hello.mutable_events(1));
    Feeder feeder(acquisition);
    feeder.feed(raw_message(1, hello.SerializeAsString(), 0), [](std::size_t left) { return left; });
    return feeder.decoder.error().text;
  };
  const auto unknown = [](auto& message) { return message.GetReflection()->MutableUnknownFields(&message); };
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(event)->AddVarint(7, 1); }),
            "Hello event 1: found a form that this server does not know; expected element, plane_wave, point_wave, law, code or "
            "passive");
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(*event.mutable_plane_wave())->AddFixed64(6, 1); }),
            "Hello event 1: found a plane_wave with a field that this server does not know; expected fields 1 to 5");
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(*event.mutable_plane_wave())->AddFixed32(1, 1); }),
            "Hello event 1: found slowness_x in another wire type than its own; expected a double");
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(*event.mutable_law())->AddLengthDelimited(4)->assign("x"); }),
            "Hello event 1: found a law with a field that this server does not know; expected fields 1 to 3");
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(event)->AddFixed64(15, 1); }),
            "Hello event 1: found receivers in another wire type than its own; expected a uint32");
  // Behind the receivers come fields that change no wave.
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { unknown(event)->AddVarint(16, 1); }), "");
  const std::string wide = "\x72\x0a\x12\x08\x22\x06\x80\x80\x80\x80\x80\x01";
  EXPECT_EQ(answer([&](wire::TransmitEvent& event) { event.mutable_plane_wave()->add_elements(4); }), "");
  Feeder feeder(acquisition);
  feeder.feed(raw_message(1, wire_hello(acquisition).SerializeAsString() + wide, 0), [](std::size_t left) { return left; });
  EXPECT_EQ(feeder.decoder.error().text, "Hello events.plane_wave.elements: found 34359738368; expected at most 4294967295");
}

TEST(Decoder, RefusesWhatItDoesNotKnowOfAPosition) {
  const Acquisition acquisition = acquisition_of_positions(11);
  const auto answer = [&](auto change) {
    wire::Hello hello = wire_hello(acquisition);
    change(*hello.mutable_positions(2));
    Feeder feeder(acquisition);
    feeder.feed(raw_message(1, hello.SerializeAsString(), 0), [](std::size_t left) { return left; });
    return feeder.decoder.error().text;
  };
  EXPECT_EQ(answer([](wire::Pose& pose) { pose.GetReflection()->MutableUnknownFields(&pose)->AddVarint(6, 1); }),
            "Hello position 2: found field 6, not known or in another wire type than its own; expected fields 1 to 5");
  EXPECT_EQ(answer([](wire::Pose& pose) { pose.GetReflection()->MutableUnknownFields(&pose)->AddVarint(1, 1); }),
            "Hello position 2: found field 1, not known or in another wire type than its own; expected fields 1 to 5");
  EXPECT_EQ(answer([](wire::Pose&) {}), "");
}

TEST(Decoder, CountsPositionsBeforeTheyTakeMemory) {
  std::string header = wire_hello(acquisition_of_positions(11)).SerializeAsString();
  for (std::size_t i = 0; i < 300'000; ++i) header += std::string("\x82\x01\x00", 3);
  Feeder feeder(make_acquisition(5, 11));
  feeder.feed(raw_message(1, header, 0), [](std::size_t left) { return left; });
  EXPECT_EQ(feeder.decoder.error().text, "Hello positions: found 300003; expected at most 256");
  EXPECT_EQ(feeder.decoder.error().reason, DecodeReason::bad_hello);
}

TEST(Decoder, CountsEventsBeforeTheyTakeMemory) {
  // Half a million events of two bytes each would be messages of some fifty bytes.
  std::string header = wire_hello(make_acquisition(5, 11)).SerializeAsString();
  for (std::size_t i = 0; i < 500'000; ++i) header += std::string("\x72\x00", 2);
  Feeder feeder(make_acquisition(5, 11));
  feeder.feed(raw_message(1, header, 0), [](std::size_t left) { return left; });
  EXPECT_EQ(feeder.decoder.error().text, "Hello events: found 500000; expected at most 4096");
  EXPECT_EQ(feeder.decoder.error().reason, DecodeReason::bad_hello);
}

TEST(Decoder, TakesPiecesOfEverySize) {
  const Conversation conversation;
  for (std::size_t size = 1; size <= conversation.bytes.size(); ++size) {
    Feeder feeder(conversation.acquisition);
    feeder.feed(conversation.bytes, [&](std::size_t) { return size; });
    expect_whole(feeder, conversation);
  }
}

TEST(Decoder, TakesEverySplitInTwo) {
  const Conversation conversation;
  for (std::size_t split = 0; split <= conversation.bytes.size(); ++split) {
    Feeder feeder(conversation.acquisition);
    feeder.feed(conversation.bytes, [&](std::size_t left) {
      const std::size_t at = conversation.bytes.size() - left;
      return at < split ? split - at : left;
    });
    expect_whole(feeder, conversation);
  }
}

TEST(Decoder, DiscardsPayloadsLargerThanTheScratchMemoryInPiecesOfEverySize) {
  const Conversation conversation;
  for (std::size_t size = 1; size <= conversation.bytes.size(); ++size) {
    Feeder feeder(conversation.acquisition);
    feeder.discard = true;
    feeder.feed(conversation.bytes, [&](std::size_t) { return size; });
    expect_whole(feeder, conversation);
  }
}

TEST(Decoder, OneScatterReadAShotOnceTheStreamIsRunning) {
  const Acquisition acquisition = make_acquisition(16, 2048);
  const Bytes frame = random_bytes(acquisition.frame_bytes(), 2);
  Feeder feeder(acquisition);
  const auto everything = [](std::size_t left) { return left; };
  feeder.feed(hello_message(acquisition), everything);
  Bytes shots;
  for (std::uint32_t transmit = 0; transmit < 16; ++transmit)
    shots = std::move(shots) + shot_message(1, transmit, shot_payload(acquisition, frame, transmit));
  feeder.reads = 0;
  feeder.feed(shots, everything);
  EXPECT_EQ(feeder.frame, frame);
  EXPECT_EQ(feeder.reads, 16U + 1U);  // and one for the first prefix
}

TEST(Decoder, KnowsWhetherAnEndWouldCutAMessage) {
  const Conversation conversation;
  for (std::size_t cut = 0; cut < conversation.bytes.size(); ++cut) {
    Feeder feeder(conversation.acquisition);
    feeder.feed(Bytes(conversation.bytes.begin(), conversation.bytes.begin() + static_cast<std::ptrdiff_t>(cut)),
                [](std::size_t left) { return left; });
    const bool at_boundary = cut == 0 || std::ranges::find(conversation.boundaries, cut) != conversation.boundaries.end();
    EXPECT_EQ(feeder.decoder.within_message(), !at_boundary) << cut;
  }
}

TEST(Decoder, AnEndLeavesWhatFollowsAlone) {
  const Conversation conversation;
  Feeder feeder(conversation.acquisition);
  feeder.feed(conversation.bytes + random_bytes(100, 3), [](std::size_t left) { return left; });
  expect_whole(feeder, conversation);
}

struct BadBytes {
  const char* name;
  DecodeReason reason;
  const char* text;
  Bytes (*make)();
};

Bytes small_hello() {
  return hello_message(small_acquisition());
}

std::string small_hello_header() {
  const Bytes hello = small_hello();
  return {reinterpret_cast<const char*>(hello.data()) + prefix_bytes, hello.size() - prefix_bytes};
}
/// 2^32 + `low`, low < 128, as a varint: what is left of it in 32 bits is `low`.
std::string above_32_bits(unsigned char low) {
  return {static_cast<char>(low | 0x80), '\x80', '\x80', '\x80', '\x10'};
}
/// A Hello that a server takes, and behind it a field, as its tag, that is `low` in 32 bits.
Bytes wide_hello(const std::string& tag, unsigned char low) {
  return raw_message(1, small_hello_header() + tag + above_32_bits(low), 0);
}

class DecoderRefuses : public testing::TestWithParam<BadBytes> {};

TEST_P(DecoderRefuses, WholeAndByteByByte) {
  const Bytes bytes = GetParam().make();
  for (const std::size_t size : {std::size_t{1}, bytes.size()}) {
    Feeder feeder(small_acquisition());
    feeder.feed(bytes + Bytes(300), [&](std::size_t) { return size; });
    ASSERT_FALSE(feeder.events.empty());
    EXPECT_EQ(feeder.events.back(), DecodeEvent::failed);
    EXPECT_EQ(words::decode_reason.of(feeder.decoder.error().reason), words::decode_reason.of(GetParam().reason));
    EXPECT_THAT(feeder.decoder.error().text, HasSubstr(GetParam().text));
    EXPECT_EQ(feeder.decoder.next(), DecodeEvent::failed);  // for ever
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bytes, DecoderRefuses,
    testing::Values(
        BadBytes{"bad_magic", DecodeReason::bad_magic, "message magic: found 47 45 54 20; expected 45 46 52 4d (\"EFRM\")",
                 [] { return with_prefix_field(small_hello(), 0, 4, 0x20544547); }},
        BadBytes{"bad_version", DecodeReason::bad_version, "message version: found 2; expected 1",
                 [] { return with_prefix_field(small_hello(), 4, 2, 2); }},
        BadBytes{"bad_type", DecodeReason::bad_type, "message type: found 6; expected 1 to 5",
                 [] { return with_prefix_field(small_hello(), 6, 2, 6); }},
        BadBytes{"type_zero", DecodeReason::bad_type, "message type: found 0",
                 [] { return with_prefix_field(small_hello(), 6, 2, 0); }},
        BadBytes{"accept_from_sender", DecodeReason::unexpected_message, "message type: found 2 from a sender",
                 [] { return raw_message(2, "", 0); }},
        BadBytes{"checksum_of_hello", DecodeReason::bad_checksum, "Hello checksum: found ",
                 [] {
                   auto bytes = small_hello();
                   bytes[30] ^= std::byte{1};
                   return bytes;
                 }},
        BadBytes{"checksum_of_shot", DecodeReason::bad_checksum, "Shot checksum: found ",
                 [] {
                   auto bytes = shot_message(1, 0, Bytes(128));
                   bytes[25] ^= std::byte{1};
                   return small_hello() + bytes;
                 }},
        BadBytes{"checksum_covers_the_prefix", DecodeReason::bad_checksum, "Shot checksum: found ",
                 [] {
                   auto bytes = shot_message(1, 0, Bytes(128));
                   bytes[12] = std::byte{127};
                   return small_hello() + bytes;
                 }},
        BadBytes{"hello_header_too_long", DecodeReason::bad_header_length,
                 "header length: found 1048577; expected at most 1048576",
                 [] { return with_prefix_field(small_hello(), 8, 4, 1048577); }},
        BadBytes{"header_length_overflows", DecodeReason::bad_header_length,
                 "header length: found 4294967295; expected at most 256",
                 [] { return small_hello() + with_prefix_field(shot_message(1, 0, {}), 8, 4, 0xFFFFFFFF); }},
        BadBytes{"shot_header_too_long", DecodeReason::bad_header_length, "header length: found 257; expected at most 256",
                 [] { return small_hello() + raw_message(4, std::string(257, 'x'), 128); }},
        BadBytes{
            "payload_length_overflows", DecodeReason::bad_payload_length,
            "Shot payload (frame 1, transmit 0): found 18446744073709551615 bytes; expected 128 (4 A-scans of 32 bytes by the "
            "Hello)",
            [] { return small_hello() + shot_message(1, 0, {}, 0xFFFFFFFFFFFFFFFF); }},
        BadBytes{"payload_of_hello", DecodeReason::bad_payload_length, "payload length: found 1; expected 0",
                 [] { return with_prefix_field(small_hello(), 12, 8, 1); }},
        BadBytes{"payload_of_end", DecodeReason::bad_payload_length, "payload length: found 9; expected 0",
                 [] { return small_hello() + raw_message(5, "", 9); }},
        BadBytes{"wrong_payload_length", DecodeReason::bad_payload_length,
                 "Shot payload (frame 1, transmit 3): found 126 bytes; expected 128 (4 A-scans of 32 bytes by the Hello)",
                 [] { return small_hello() + shot_message(1, 3, Bytes(126)); }},
        BadBytes{"payload_of_more_than_the_shot", DecodeReason::bad_payload_length,
                 "Shot payload (frame 9, transmit 2): found 130 bytes; expected 128 (4 A-scans of 32 bytes by the Hello)",
                 [] { return small_hello() + shot_message(9, 2, Bytes(130)); }},
        BadBytes{"transmit_out_of_range", DecodeReason::bad_transmit,
                 "Shot transmit (frame 1): found 4; expected below the Hello's 4 elements",
                 [] { return small_hello() + shot_message(1, 4, Bytes(128)); }},
        BadBytes{"unparsable_hello", DecodeReason::bad_header, "Hello header: found bytes that are not this message",
                 [] { return raw_message(1, "\xff\xff\xff", 0); }},
        BadBytes{"hello_not_utf8", DecodeReason::bad_header, "Hello header: found bytes that are not this message",
                 [] { return raw_message(1, "\x22\x01\xff", 0); }},
        BadBytes{"samples_of_more_than_32_bits", DecodeReason::bad_header,
                 "Hello samples: found 4294967312; expected at most 4294967295", [] { return wide_hello("\x48", 16); }},
        BadBytes{"connections_of_more_than_32_bits", DecodeReason::bad_header,
                 "Hello connection_count: found 4294967297; expected at most 4294967295", [] { return wide_hello("\x18", 1); }},
        BadBytes{"matrix_of_more_than_32_bits", DecodeReason::bad_header,
                 "Hello matrix: found 4294967297; expected at most 2147483647", [] { return wide_hello("\x38", 1); }},
        BadBytes{"dead_element_of_more_than_32_bits", DecodeReason::bad_header,
                 "Hello probe.dead_elements: found 4294967298; expected at most 4294967295",
                 [] { return wide_hello(std::string("\x32\x07\x5A\x05"), 2); }},
        BadBytes{"session_of_more_than_64_bits", DecodeReason::bad_header,
                 "Hello session: found a number of more than 64 bits; expected fewer",
                 [] { return raw_message(1, small_hello_header() + "\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02", 0); }},
        BadBytes{"transmit_of_more_than_32_bits", DecodeReason::bad_header,
                 "Shot transmit: found 4294967296; expected at most 4294967295",
                 [] { return small_hello() + raw_message(4, "\x08\x01\x10" + above_32_bits(0), 128); }},
        BadBytes{"transmit_behind_other_peoples_fields", DecodeReason::bad_header,
                 "Shot transmit: found 4294967296; expected at most 4294967295",
                 [] {  // a group, a length, a 64-bit number that we do not know
                   const std::string others =
                       "\xA3\x06\x10\x05\xA4\x06\xAA\x06\x02\x10\x10\xB1\x06"
                       "12345678";
                   return small_hello() + raw_message(4, others + "\x08\x01\x10" + above_32_bits(0), 128);
                 }},
        BadBytes{"unparsable_shot", DecodeReason::bad_header, "Shot header: found bytes that are not this message",
                 [] { return small_hello() + raw_message(4, "\x08", 128); }},
        BadBytes{"time_out_of_range", DecodeReason::bad_header, "Shot acquisition_time: found 18446744073709551615",
                 [] {
                   wire::Shot shot;
                   shot.set_acquisition_time(~0ULL);
                   return small_hello() + raw_message(4, shot.SerializeAsString(), 128);
                 }},
        BadBytes{"position_that_stands_for_none", DecodeReason::bad_header,
                 "Shot position: found -9223372036854775808; expected a count above -2^63",
                 [] {
                   wire::Shot shot;
                   shot.set_position(no_position);
                   return small_hello() + raw_message(4, shot.SerializeAsString(), 128);
                 }},
        BadBytes{"position_of_more_than_64_bits", DecodeReason::bad_header,
                 "Shot position: found a number of more than 64 bits; expected fewer",
                 [] { return small_hello() + raw_message(4, "\x08\x01\x28\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02", 128); }},
        BadBytes{"shot_before_hello", DecodeReason::unexpected_message, "message type: found a Shot (4) before the Hello",
                 [] { return shot_message(1, 0, Bytes(128)); }},
        BadBytes{"end_before_hello", DecodeReason::unexpected_message, "message type: found an End (5) before the Hello",
                 [] { return raw_message(5, "", 0); }},
        BadBytes{"second_hello", DecodeReason::unexpected_message, "message type: found a second Hello (1)",
                 [] { return small_hello() + small_hello(); }}),
    [](const auto& instance) { return instance.param.name; });

TEST(Decoder, NothingRandomCrashesIt) {
  // Random bytes behind valid beginnings, in random pieces: every run must end in an event or ask for more.
  std::mt19937_64 engine(11);
  const Conversation conversation;
  for (int run = 0; run < 3000; ++run) {
    Bytes bytes = conversation.bytes;
    for (int change = 0; change < 3; ++change) bytes[engine() % bytes.size()] = static_cast<std::byte>(engine());
    if (run % 3 == 0) bytes = with_prefix_field(std::move(bytes), 4 + engine() % 16, 1, engine());
    Feeder feeder(conversation.acquisition);
    feeder.feed(bytes, [&](std::size_t) { return 1 + engine() % 40; });
  }
}

}  // namespace
}  // namespace echoform
