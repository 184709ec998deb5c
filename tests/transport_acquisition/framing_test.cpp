#include "transport/acquisition/framing.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <limits>
#include <memory>

#include "base/errors.hpp"
#include "tests/transport_acquisition/messages.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

using namespace testing_support;
using testing::HasSubstr;

// The check value that every catalogue gives for CRC-32C: of the ASCII digits 1 to 9.
TEST(Framing, ChecksumIsCrc32c) {
  Bytes prefix(checksummed_prefix_bytes);
  const std::string digits = "123456789";
  // A CRC over 20 bytes and a header is the CRC over both together: check against a bit-by-bit computation.
  const auto bitwise = [](const Bytes& bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const std::byte byte : bytes) {
      crc ^= std::to_integer<std::uint32_t>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    }
    return ~crc;
  };
  Bytes header(digits.size());
  std::memcpy(header.data(), digits.data(), digits.size());
  EXPECT_EQ(bitwise(header), 0xE3069283U);
  EXPECT_EQ(message_checksum(std::span(prefix).first<checksummed_prefix_bytes>(), header), bitwise(prefix + header));
}

TEST(Framing, PrefixIsLittleEndianAndReadsBack) {
  const Bytes message = with_prefix_field(raw_message(4, "abc", 0x0102030405060708), 4, 2, 1);
  EXPECT_EQ(std::to_integer<int>(message[0]), 'E');
  EXPECT_EQ(std::to_integer<int>(message[6]), 4);
  EXPECT_EQ(std::to_integer<int>(message[8]), 3);
  EXPECT_EQ(std::to_integer<int>(message[12]), 8);
  EXPECT_EQ(std::to_integer<int>(message[19]), 1);
  const MessagePrefix prefix = read_prefix(std::span(message).first<prefix_bytes>());
  EXPECT_TRUE(prefix.magic_matches);
  EXPECT_EQ(prefix.version, 1);
  EXPECT_EQ(prefix.type, 4);
  EXPECT_EQ(prefix.header_bytes, 3U);
  EXPECT_EQ(prefix.payload_bytes, 0x0102030405060708U);
}

TEST(Framing, EncodedShotIsWhatTheProtobufLibraryWrites) {
  for (const std::uint64_t sequence :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::numeric_limits<std::uint64_t>::max()}) {
    for (const std::uint32_t transmit : {0U, 1U, 1023U, std::numeric_limits<std::uint32_t>::max()}) {
      for (const std::int64_t time :
           {std::int64_t{0}, std::int64_t{1'700'000'000'000'000'000}, std::numeric_limits<std::int64_t>::max()}) {
        std::array<std::byte, maximum_encoded_shot_bytes> bytes{};
        const std::size_t size =
            encode_shot(bytes, {.sequence = sequence, .transmit = transmit, .acquisition_time = WallTime(time)}, 4096);
        wire::Shot shot;
        shot.set_sequence(sequence);
        shot.set_transmit(transmit);
        shot.set_acquisition_time(static_cast<std::uint64_t>(time));
        EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)),
                  raw_message(4, shot.SerializeAsString(), 4096));
      }
    }
  }
}

TEST(Hello, CarriesEveryFieldOfTheAcquisition) {
  Acquisition acquisition = make_acquisition(5, 100, MatrixKind::half_summed, SampleEncoding::packed12);
  acquisition.time_offset = Seconds(2.5e-7);
  acquisition.sample_scale = 0.125;
  acquisition.probe.elements[2].dead = true;
  for (std::size_t i = 0; i < 5; ++i) {
    acquisition.probe.elements[i].centre.y = Metres(0.001 * static_cast<double>(i));
    acquisition.probe.elements[i].centre.z = Metres(-0.02);
    acquisition.probe.elements[i].normal = {0.6, 0.0, 0.8};
    acquisition.probe.elements[i].length = Metres(0.01);
  }
  wire::Hello hello;
  ASSERT_TRUE(hello.ParseFromString(encode_hello(
      {.session = 42, .connection_index = 2, .connection_count = 4, .sender = "probe 1.0", .token = "secret"}, acquisition)));
  const HelloContents contents = read_hello(hello, {});
  EXPECT_TRUE(contents.acquisition == acquisition);
  EXPECT_EQ(contents.identity.session, 42U);
  EXPECT_EQ(contents.identity.connection_index, 2U);
  EXPECT_EQ(contents.identity.connection_count, 4U);
  EXPECT_EQ(contents.identity.sender, "probe 1.0");
  EXPECT_EQ(contents.identity.token, "secret");
}

TEST(Hello, LeavesOutDefaultsAndReadsThem) {
  wire::Hello hello = wire_hello(make_acquisition(3, 16));
  EXPECT_EQ(hello.probe().y_size() + hello.probe().z_size() + hello.probe().normal_x_size() + hello.probe().normal_z_size(), 0);
  hello.clear_sample_scale();
  hello.clear_connection_count();
  const HelloContents contents = read_hello(hello, {});
  EXPECT_EQ(contents.acquisition.sample_scale, 1.0);
  EXPECT_EQ(contents.acquisition.probe.elements[1].normal.z, 1.0);
  EXPECT_EQ(contents.identity.connection_count, 1U);
}

TEST(Hello, CarriesEventsInTheirOrderAndTheirReceivers) {
  Acquisition acquisition = make_acquisition(5, 16);
  acquisition.events = element_events(std::vector<std::uint32_t>{4, 0, 2});
  acquisition.events[1].receivers = {3, 0};
  const wire::Hello hello = wire_hello(acquisition);
  EXPECT_EQ(hello.matrix(), wire::EVENTS);
  EXPECT_EQ(read_hello(hello, {}).acquisition, acquisition);
}

/// The fields and words of version 1 before there were events.
std::unique_ptr<google::protobuf::DescriptorPool> version_1() {
  google::protobuf::FileDescriptorProto file;
  wire::Hello::descriptor()->file()->CopyTo(&file);
  for (auto& type : *file.mutable_message_type()) {
    if (type.name() != "Hello") continue;
    for (int i = type.field_size() - 1; i >= 0; --i) {
      if (type.field(i).number() > 13) type.mutable_field()->DeleteSubrange(i, 1);
    }
  }
  auto& words = *file.mutable_enum_type(0)->mutable_value();
  for (int i = words.size() - 1; i >= 0; --i) {
    if (words.Get(i).number() > 3) words.DeleteSubrange(i, 1);
  }
  auto pool = std::make_unique<google::protobuf::DescriptorPool>();
  EXPECT_NE(pool->BuildFile(file), nullptr);
  return pool;
}

TEST(Hello, OfEventsIsRefusedByAServerOfBefore) {
  Acquisition acquisition = make_acquisition(5, 16);
  acquisition.events = element_events(std::vector<std::uint32_t>{4, 0});
  const auto pool = version_1();
  google::protobuf::DynamicMessageFactory factory(pool.get());
  const auto* const type = pool->FindMessageTypeByName("echoform.wire.Hello");
  ASSERT_NE(type, nullptr);
  const std::unique_ptr<google::protobuf::Message> heard(factory.GetPrototype(type)->New());
  ASSERT_TRUE(heard->ParseFromString(wire_hello(acquisition).SerializeAsString()));
  // It keeps the number that it does not know, and takes 1 to 3 alone.
  const auto* const matrix = type->FindFieldByName("matrix");
  EXPECT_EQ(heard->GetReflection()->GetEnumValue(*heard, matrix), 4);
  EXPECT_EQ(matrix->enum_type()->FindValueByNumber(4), nullptr);
  EXPECT_NE(matrix->enum_type()->FindValueByNumber(3), nullptr);
}

TEST(Hello, RefusesElementsOfDifferentSizes) {
  Acquisition acquisition = make_acquisition(3, 16);
  acquisition.probe.elements[1].width = Metres(1e-3);
  EXPECT_THROW((void)encode_hello({}, acquisition), InputError);
}

struct BadHello {
  const char* name;
  void (*change)(wire::Hello&);
  const char* line;
};

class HelloRejects : public testing::TestWithParam<BadHello> {};

TEST_P(HelloRejects, WithALineThatNamesTheField) {
  wire::Hello hello = wire_hello(make_acquisition(4, 16));
  GetParam().change(hello);
  try {
    (void)read_hello(hello, {.elements = 8, .samples = 1000, .frame_bytes = 8000});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().line));
  }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Fields, HelloRejects,
    testing::Values(
        BadHello{"no_elements", [](wire::Hello& h) { h.mutable_probe()->clear_x(); },
                 "Hello probe.x: found 0 elements; expected 1 to 8"},
        BadHello{"too_many_elements",
                 [](wire::Hello& h) {
                   for (int i = 0; i < 5; ++i) h.mutable_probe()->add_x(1.0);
                 },
                 "Hello probe.x: found 9 elements; expected 1 to 8"},
        BadHello{"short_z", [](wire::Hello& h) { h.mutable_probe()->add_z(0.0); },
                 "Hello probe.z: found 1 values; expected none or one for each of the 4"},
        BadHello{"nan_position", [](wire::Hello& h) { h.mutable_probe()->set_x(1, nan); },
                 "Hello element 1: found a number that is not finite"},
        BadHello{"nan_normal",
                 [](wire::Hello& h) {
                   for (int i = 0; i < 4; ++i) h.mutable_probe()->add_normal_x(nan);
                 },
                 "Hello element 0: found a number that is not finite"},
        BadHello{"long_normal",
                 [](wire::Hello& h) {
                   for (int i = 0; i < 4; ++i) h.mutable_probe()->add_normal_z(2.0);
                 },
                 "Hello element 0: found a normal of length 2; expected a unit vector"},
        BadHello{"normal_out_of_the_part",
                 [](wire::Hello& h) {
                   for (int i = 0; i < 4; ++i) h.mutable_probe()->add_normal_z(-1.0);
                 },
                 "emission towards z = -1"},
        BadHello{"dead_index", [](wire::Hello& h) { h.mutable_probe()->add_dead_elements(4); },
                 "Hello probe.dead_elements: found 4; expected indices below 4"},
        BadHello{"infinite_width", [](wire::Hello& h) { h.mutable_probe()->set_element_width(infinity); }, "not finite"},
        BadHello{"infinite_frequency", [](wire::Hello& h) { h.mutable_probe()->set_centre_frequency(infinity); },
                 "Hello centre frequency: found inf"},
        BadHello{"nan_sample_rate", [](wire::Hello& h) { h.set_sample_rate(nan); }, "Hello sample rate: found nan"},
        BadHello{"zero_sample_rate", [](wire::Hello& h) { h.set_sample_rate(0.0); }, "Hello sample rate: found 0"},
        BadHello{"infinite_start", [](wire::Hello& h) { h.set_start_time(-infinity); }, "Hello start time: found -inf"},
        BadHello{"nan_scale", [](wire::Hello& h) { h.set_sample_scale(nan); }, "Hello sample scale: found nan"},
        BadHello{"no_samples", [](wire::Hello& h) { h.set_samples(0); }, "Hello samples: found 0; expected 2 to 1000"},
        BadHello{"too_many_samples", [](wire::Hello& h) { h.set_samples(4294967295U); }, "Hello samples: found 4294967295"},
        BadHello{"frame_too_large", [](wire::Hello& h) { h.set_samples(1000); }, "at most 8000 bytes a frame"},
        BadHello{"matrix", [](wire::Hello& h) { h.set_matrix(static_cast<wire::MatrixKind>(9)); },
                 "Hello matrix: found 9; expected 1 (FULL)"},
        BadHello{"events_without_matrix", [](wire::Hello& h) { h.add_events()->set_element(1); },
                 "Hello events: found 1 with matrix 1; expected none, or matrix 4 (EVENTS)"},
        BadHello{"no_events", [](wire::Hello& h) { h.set_matrix(wire::EVENTS); },
                 "Hello events: found 0 with matrix 4 (EVENTS); expected 1 to 4, the number of elements"},
        BadHello{"too_many_events",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   for (std::uint32_t i = 0; i < 5; ++i) h.add_events()->set_element(i);
                 },
                 "Hello events: found 5 with matrix 4 (EVENTS); expected 1 to 4"},
        BadHello{"event_of_no_form",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(1);
                   h.add_events();
                 },
                 "Hello event 1: found none of the forms that this server knows; expected an element"},
        BadHello{"event_of_a_stranger",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(4);
                 },
                 "Hello event 0: found element 4; expected elements 0 to 3"},
        BadHello{"event_twice",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   for (int i = 0; i < 2; ++i) h.add_events()->set_element(2);
                 },
                 "Hello event 1: found element 2 again; expected each element in one event"},
        BadHello{"receiver_twice",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(2);
                   for (int i = 0; i < 2; ++i) h.mutable_events(0)->add_receivers(3);
                 },
                 "Hello event 0: found receiver 3 again; expected each receiver once"},
        BadHello{"encoding", [](wire::Hello& h) { h.clear_encoding(); }, "Hello encoding: found 0; expected 1 (INT16)"},
        BadHello{"connections", [](wire::Hello& h) { h.set_connection_count(9); },
                 "Hello connection_count: found 9; expected 1 to 8"},
        BadHello{"index", [](wire::Hello& h) { h.set_connection_index(1); },
                 "Hello connection_index: found 1; expected below the connection_count of 1"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Hello, SenderNamesAreMadePrintable) {
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(printable(std::string(200, 'x')).size(), 131U);
}

TEST(Hello, TokensCompare) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  for (const char* wrong : {"", "secre", "secretsecret", "Secret", "secreu"})
    EXPECT_FALSE(equal_in_constant_time("secret", wrong)) << wrong;
  EXPECT_FALSE(equal_in_constant_time("", "x"));
}

}  // namespace
}  // namespace echoform
