#include "transport/acquisition/framing.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <limits>
#include <memory>
#include <numeric>

#include "base/errors.hpp"
#include "tests/support/input_error.hpp"
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

TEST(Framing, EncodedPositionIsWhatTheProtobufLibraryWrites) {
  constexpr EncoderCount greatest = std::numeric_limits<EncoderCount>::max();
  for (const EncoderCount position : {EncoderCount{0}, EncoderCount{1}, EncoderCount{-1}, EncoderCount{63}, EncoderCount{-64},
                                      EncoderCount{64}, EncoderCount{1'234'567'890'123}, greatest, -greatest}) {
    std::array<std::byte, maximum_encoded_shot_bytes> bytes{};
    // With every other field as long as it can be.
    const std::size_t size = encode_shot(bytes,
                                         {.sequence = ~0ULL,
                                          .transmit = ~0U,
                                          .acquisition_time = WallTime(std::numeric_limits<std::int64_t>::max()),
                                          .position = position},
                                         4096, ~0ULL);
    wire::Shot shot;
    shot.set_sequence(~0ULL);
    shot.set_transmit(~0U);
    shot.set_acquisition_time(static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    shot.set_session(~0ULL);
    shot.set_position(position);
    EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)),
              raw_message(4, shot.SerializeAsString(), 4096))
        << position;
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

TEST(Hello, CarriesEventsOfEveryForm) {
  Acquisition acquisition = make_acquisition(5, 16);
  acquisition.events = waves_of_every_form();
  EXPECT_EQ(read_hello(wire_hello(acquisition), {}).acquisition, acquisition);
}

TEST(Hello, CarriesPassiveEventsOfDetectorsThatFaceAnywhere) {
  for (const Acquisition& acquisition : {acquisition_of_passive(16), acquisition_of_turned_passive(16)}) {
    const wire::Hello hello = wire_hello(acquisition);
    EXPECT_EQ(hello.events(1).passive().wavelength(), 850e-9);
    EXPECT_EQ(hello.events(1).passive().pulse_energy(), 12e-3);
    EXPECT_EQ(read_hello(hello, {}).acquisition, acquisition);
  }
}

TEST(Hello, OfPassiveEventsIsRefusedByItsReason) {
  const auto refused = [](const wire::Hello& hello) {
    return test::input_error([&] { static_cast<void>(read_hello(hello, {})); });
  };
  wire::Hello hello = wire_hello(acquisition_of_passive(16));
  hello.mutable_events(3)->set_element(0);
  EXPECT_EQ(refused(hello), "Hello element 0: found emission towards z = 0; expected emission into the part (+z)");
  hello = wire_hello(acquisition_of_passive(16));
  hello.mutable_probe()->set_normal_x(0, 0.0);
  EXPECT_EQ(refused(hello), "Hello element 0: found a normal of length 0; expected a unit vector");
  hello = wire_hello(acquisition_of_passive(16));
  hello.mutable_events(2)->mutable_passive()->set_wavelength(850.0);
  EXPECT_EQ(refused(hello), "Hello event 2: found light of 850 m; expected 0 (unknown), or 1e-09 to 1 m");
}

TEST(Hello, CarriesRowsOfCodes) {
  for (const std::size_t elements : {1U, 7U, 8U, 9U, 16U, 17U}) {
    Acquisition acquisition = make_acquisition(elements, 16);
    std::mt19937_64 engine(elements);
    for (std::size_t row = 0; row < 20; ++row) {
      CodeEvent code{std::vector<std::int8_t>(elements)};
      for (std::int8_t& sign : code.signs) sign = static_cast<std::int8_t>(static_cast<int>(engine() % 3) - 1);
      code.signs[row % elements] = row % 2 == 0 ? 1 : -1;
      acquisition.events.push_back({std::move(code), {}});
    }
    EXPECT_EQ(read_hello(wire_hello(acquisition), {}).acquisition, acquisition) << elements;
  }
  Acquisition hadamard = make_acquisition(64, 16);
  hadamard.events = hadamard_events(64);
  const wire::Hello hello = wire_hello(hadamard);
  EXPECT_EQ(read_hello(hello, {}).acquisition, hadamard);
  EXPECT_EQ(hello.events(1).code().positive(), std::string(8, '\x55'));  // elements 0, 2, 4 ...
  EXPECT_EQ(hello.events(1).code().negative(), std::string(8, '\xaa'));
  EXPECT_EQ(hello.events(0).code().negative(), "");
}

/// More events than elements fire, and each shot has as many A-scans as its receivers.
TEST(Hello, CarriesMoreEventsThanThereAreElements) {
  Acquisition acquisition = make_acquisition(2, 16);
  for (int i = 0; i < 4096; ++i) acquisition.events.push_back({plane_wave(1e-4 * i, MetresPerSecond(6320.0)), {}});
  EXPECT_EQ(read_hello(wire_hello(acquisition), {}).acquisition, acquisition);
  EXPECT_THROW((void)read_hello(wire_hello(acquisition), {.events = 4095}), InputError);
  // What no server takes is not said.
  acquisition.events.push_back(acquisition.events.front());
  EXPECT_THROW((void)encode_hello({}, acquisition), InputError);
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

TEST(Hello, ThatNoServerReadsIsRefusedWithWhatIsLongAndWhatFits) {
  Acquisition acquisition = make_acquisition(1024, 16);
  std::vector<std::uint32_t> all(1024);
  std::iota(all.rbegin(), all.rend(), 0U);
  acquisition.events = element_events(all);
  for (TransmitEvent& event : acquisition.events) event.receivers = all;
  const std::string line = test::input_error([&] { static_cast<void>(encode_hello({}, acquisition)); });
  EXPECT_THAT(line, testing::StartsWith("Hello events: found "));
  const std::string before = "expected at most 1048576 in all: ";
  ASSERT_NE(line.find(before), std::string::npos) << line;
  const std::size_t fit = std::stoul(line.substr(line.find(before) + before.size()));
  ASSERT_GT(fit, 100U);
  acquisition.events.resize(fit + 1);
  EXPECT_THROW((void)encode_hello({}, acquisition), InputError);
  acquisition.events.resize(fit);
  EXPECT_LE(encode_hello({}, acquisition).size(), maximum_hello_bytes);
  acquisition.events.clear();
  EXPECT_THAT(test::input_error([&] {
                static_cast<void>(encode_hello({.session = 1,
                                                .connection_index = 0,
                                                .connection_count = 1,
                                                .sender = "test",
                                                .token = std::string(maximum_hello_bytes, 't')},
                                               acquisition));
              }),
              testing::StartsWith("Hello sender and token: found 1048580 bytes of "));
}

TEST(Hello, SaysHowManyLawsFit) {
  Acquisition acquisition = make_acquisition(256, 16);
  LawEvent law{std::vector<std::uint32_t>(256), std::vector<float>(256, 1e-6F), {}};
  std::iota(law.elements.begin(), law.elements.end(), 0U);
  acquisition.events.assign(4096, TransmitEvent{law, {}});
  const std::string line = test::input_error([&] { static_cast<void>(encode_hello({}, acquisition)); });
  EXPECT_THAT(line, testing::StartsWith("Hello events: found "));
  const std::string before = "expected at most 1048576 in all: ";
  ASSERT_NE(line.find(before), std::string::npos) << line;
  const std::size_t fit = std::stoul(line.substr(line.find(before) + before.size()));
  acquisition.events.resize(fit + 1);
  EXPECT_THROW((void)encode_hello({}, acquisition), InputError);
  acquisition.events.resize(fit);
  EXPECT_LE(encode_hello({}, acquisition).size(), maximum_hello_bytes);
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
  EXPECT_THAT(test::input_error([&] {
                (void)read_hello(hello, {.elements = 8, .samples = 1000, .frame_bytes = 8000, .events = 6, .positions = 3});
              }),
              HasSubstr(GetParam().line));
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
                 "Hello element 1: found nan m"},
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
        BadHello{"infinite_width", [](wire::Hello& h) { h.mutable_probe()->set_element_width(infinity); }, "Hello element 0: found inf m"},
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
                 "Hello events: found 1 with matrix 1; expected none, or matrix 4 (EVENTS) or 5 (POSITIONS)"},
        BadHello{"no_events", [](wire::Hello& h) { h.set_matrix(wire::EVENTS); },
                 "Hello events: found 0 with matrix 4 (EVENTS); expected 1 to 6"},
        BadHello{"too_many_events",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   for (std::uint32_t i = 0; i < 7; ++i) h.add_events()->set_element(i);
                 },
                 "Hello events: found 7 with matrix 4 (EVENTS); expected 1 to 6"},
        BadHello{"event_of_no_form",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(1);
                   h.add_events();
                 },
                 "Hello event 1: found none of the forms that this server knows; expected element, plane_wave, point_wave, law, "
                 "code or passive"},
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
        BadHello{"positions_without_matrix",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(1);
                   h.add_positions();
                 },
                 "Hello positions: found 1 with matrix 4; expected none, or matrix 5 (POSITIONS)"},
        BadHello{"no_positions",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                 },
                 "Hello positions: found 0 with matrix 5 (POSITIONS); expected 1 to 3"},
        BadHello{"too_many_positions",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   for (int i = 0; i < 4; ++i) h.add_positions();
                 },
                 "Hello positions: found 4 with matrix 5 (POSITIONS); expected 1 to 3"},
        BadHello{"position_that_is_not_there",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   h.mutable_events(0)->set_position(1);
                   h.add_positions();
                 },
                 "Hello event 0: found position 1; expected 0 to 0"},
        BadHello{"position_where_nothing_fires",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   for (int i = 0; i < 2; ++i) h.add_positions();
                 },
                 "Hello position 1: found no event; expected at least one that fires there"},
        BadHello{"position_without_positions",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->set_element(1);
                   h.mutable_events(0)->set_position(2);
                 },
                 "Hello event 0: found position 2; expected no position, since none are stated"},
        BadHello{"position_that_is_none",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   h.add_positions()->set_y(nan);
                 },
                 "Hello position 0: found an origin at nan m; expected finite places within 1000 m"},
        BadHello{"position_of_two_numbers",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   wire::Pose& pose = *h.add_positions();
                   for (int i = 0; i < 2; ++i) pose.add_x_direction(1.0);
                 },
                 "Hello position 0: found 2 values of x_direction; expected none, or 3"},
        BadHello{"position_upside_down",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::POSITIONS);
                   h.add_events()->set_element(1);
                   wire::Pose& pose = *h.add_positions();
                   for (const double value : {-1.0, 0.0, 0.0}) pose.add_x_direction(value);
                 },
                 "Hello position 0: found element 0 emitting towards z = -1; expected a probe that is not upside down"},
        BadHello{"stranger_in_a_plane_wave",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_plane_wave()->add_elements(4);
                 },
                 "Hello event 0: found element 4; expected elements 0 to 3"},
        BadHello{"slowness_in_other_units",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_plane_wave()->set_slowness_x(0.17);
                 },
                 "Hello event 0: found a slowness of 0.17 s/m; expected sin(angle) / velocity"},
        BadHello{"slowness_that_is_none",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_plane_wave()->set_slowness_y(nan);
                 },
                 "Hello event 0: found a slowness of nan s/m"},
        BadHello{"delay_of_a_second",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_plane_wave()->set_delay(1.0);
                 },
                 "Hello event 0: found a delay of 1 s; expected a finite time between -1 s and 1 s"},
        BadHello{"plane_wave_of_a_curved_array",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_plane_wave();
                   for (int i = 0; i < 4; ++i) h.mutable_probe()->add_z(-1e-3 * (i % 3));
                 },
                 "Hello event 0: found a plane wave without slowness_z, of an array that is "},
        BadHello{"point_wave_without_velocity",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_point_wave()->set_z(-0.02);
                 },
                 "Hello event 0: found a velocity of 0 m/s; expected that of the delays, 1 to 100000 m/s"},
        BadHello{"point_wave_from_nowhere",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_point_wave()->set_velocity(6320.0);
                   h.mutable_events(0)->mutable_point_wave()->set_x(infinity);
                 },
                 "Hello event 0: found a point at inf m"},
        BadHello{"law_of_nobody",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_law();
                 },
                 "Hello event 0: found a law of no elements; expected at least one that fires"},
        BadHello{"law_with_a_delay_too_many",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_law()->add_elements(1);
                   for (int i = 0; i < 2; ++i) h.mutable_events(0)->mutable_law()->add_delays(0.0F);
                 },
                 "Hello event 0: found 2 delays of 1 elements; expected as many, or none"},
        BadHello{"law_with_a_weight_of_0",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_law()->add_elements(1);
                   h.mutable_events(0)->mutable_law()->add_weights(0.0F);
                 },
                 "Hello event 0: found a weight of 0; expected numbers of magnitude 1e-09 to 1e+09"},
        BadHello{"code_of_nobody",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_code();
                 },
                 "Hello event 0: found a row of a code in which nobody fires; expected at least one element"},
        BadHello{"code_of_both_signs",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_code()->set_positive("\x06");
                   h.mutable_events(0)->mutable_code()->set_negative("\x0c");
                 },
                 "Hello event 0 code: found element 2 both positive and negative; expected one of both, or neither"},
        BadHello{"code_behind_the_elements",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_code()->set_negative("\x10");
                 },
                 "Hello event 0 code.negative: found a bit for element 4; expected 0 behind the last of 4 elements"},
        BadHello{"code_of_more_bytes",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_code()->set_positive("\x03\x01");
                 },
                 "Hello event 0 code.positive: found 2 bytes; expected none, or 1: a bit for each of the 4 elements"},
        BadHello{"code_beside_an_element",
                 [](wire::Hello& h) {
                   h.set_matrix(wire::EVENTS);
                   h.add_events()->mutable_code()->set_positive("\x03");
                   h.add_events()->set_element(1);
                 },
                 "Hello event 1: found no row of a code beside such rows; expected rows of a code in all events, or in none"},
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
