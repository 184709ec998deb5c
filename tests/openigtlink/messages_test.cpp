// Messages as bytes, taken apart by formulas of their own.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <span>

#include "tests/openigtlink/frames.hpp"
#include "tests/openigtlink/plain_client.hpp"
#include "transport/openigtlink/crc64.hpp"
#include "transport/openigtlink/devices.hpp"
#include "transport/openigtlink/image_place.hpp"
#include "transport/openigtlink/message_parser.hpp"

namespace echoform::openigtlink {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(OpenIgtlinkSum, IsThatOfTheStandard) {
  EXPECT_EQ(crc64(bytes_of("123456789")), 0x6C40DF5F0B497347u);
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_EQ(crc64(bytes_of(text)), plain_igtl::sum_of(text)) << size;
    const std::size_t cut = size / 3;
    EXPECT_EQ(crc64(bytes_of(text).subspan(cut), crc64(bytes_of(text).first(cut))), plain_igtl::sum_of(text)) << size;
  }
}

TEST(OpenIgtlinkTime, IsSecondsAndABinaryFraction) {
  EXPECT_EQ(timestamp_of(WallTime(1'500'000'000)), (std::uint64_t{1} << 32) | 0x80000000u);
  EXPECT_EQ(timestamp_of(WallTime(-1)), 0u);
  // 999,999,999 ns are (1 - 1e-9) 2^32 = 4294967291.7 of them.
  EXPECT_EQ(timestamp_of(WallTime(999'999'999)), 4294967291u);
}

std::optional<ImageHead> head_in_part(const Grid& grid) {
  const auto places = pixel_places(grid, {"x", "m"}, {"y", "m"}, {"z", "m"});
  return places ? head_of(grid, *places) : std::nullopt;
}

// Where Slicer puts pixel (i, j, k): the matrix's directions times the distance from the middle, and the centre.
std::array<double, 3> place_of(const ImageHead& head, const std::array<std::size_t, 3>& pixel) {
  std::array<double, 3> place{};
  for (std::size_t row = 0; row < 3; ++row) {
    place[row] = head.matrix[3][row];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      place[row] += (static_cast<double>(pixel[axis]) - 0.5 * (head.size[axis] - 1.0)) * head.matrix[axis][row];
    }
  }
  return place;
}

void expect_places(const Grid& grid, bool volume) {
  const auto head = head_in_part(grid);
  ASSERT_TRUE(head);
  for (std::size_t place = 0; place < grid.pixels(); ++place) {
    const std::size_t x = place % grid.x.count;
    const std::size_t y = place / grid.x.count % grid.y.count;
    const std::size_t z = place / (grid.x.count * grid.y.count);
    const auto got = place_of(*head, volume ? std::array{x, y, z} : std::array{x, z, std::size_t{0}});
    const Point at = grid.at(place);
    // Single precision of numbers up to 40 mm.
    EXPECT_NEAR(got[0], -1e3 * at.x.value, 1e-5);
    EXPECT_NEAR(got[1], 1e3 * at.y.value, 1e-5);
    EXPECT_NEAR(got[2], -1e3 * at.z.value, 1e-5);
  }
  // Right-handed.
  const auto& m = head->matrix;
  const double determinant = m[0][0] * (m[1][1] * m[2][2] - m[2][1] * m[1][2]) -
                             m[1][0] * (m[0][1] * m[2][2] - m[2][1] * m[0][2]) +
                             m[2][0] * (m[0][1] * m[1][2] - m[1][1] * m[0][2]);
  EXPECT_GT(determinant, 0.0);
}

TEST(OpenIgtlinkPlace, EveryPixelIsWhereTheGridHasIt) {
  const openigtlink_frames::Shape shape;
  expect_places(shape.plane, false);
  expect_places(shape.volume, true);
  const auto plane = head_in_part(shape.plane);
  EXPECT_EQ(plane->size, (std::array<std::uint16_t, 3>{21, 16, 1}));
  // 1 mm along x, 2 mm along z: as thick as the narrower.
  EXPECT_FLOAT_EQ(plane->matrix[2][1], -1.0F);
  EXPECT_EQ(head_in_part(shape.volume)->size, (std::array<std::uint16_t, 3>{7, 4, 5}));
  Grid wide = shape.plane;
  wide.x.count = 65536;
  EXPECT_FALSE(head_in_part(wide));
}

TEST(OpenIgtlinkPlace, TheProbeIsWhereItsElementsAre) {
  const openigtlink_frames::Frames frames;
  const ProbePlace place(*frames.setup());
  const auto matrix = place.at(std::nullopt);
  ASSERT_TRUE(matrix);
  const Matrix expected{{{-1.0F, 0.0F, 0.0F}, {0.0F, 1.0F, 0.0F}, {0.0F, 0.0F, -1.0F}, {-2.0F, 0.0F, 0.0F}}};
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 3; ++row) EXPECT_NEAR((*matrix)[column][row], expected[column][row], 1e-6) << column << row;
  }
  frames.setup()->acquisition.positions.resize(2);
  EXPECT_FALSE(ProbePlace(*frames.setup()).at(std::nullopt));
  EXPECT_FALSE(ProbePlace().at(std::nullopt));
}

TEST(OpenIgtlinkDevices, HaveNamesOfTheirOwnThatFit) {
  const std::string server = "a-server-of-a-long-name";
  const std::vector<std::string> streams{server + "/LL.display", server + "/TT-T.display", server + "/A-very-long-view-1",
                                         server + "/A-very-long-view-2", server};
  const auto names = device_names(streams, server);
  EXPECT_EQ(names[0], "a-server-/LL.display");
  EXPECT_EQ(names[1], "a-serve/TT-T.display");
  EXPECT_EQ(device_names({"echoform.display"}, "echoform").front(), "echoform.display");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), streams.size());
  for (const std::string& name : names) EXPECT_LE(name.size(), 20u);
}

struct Taken {
  std::vector<std::string> messages;
  std::string fault;
};

Taken take(const std::string& bytes, std::size_t portion) {
  Taken taken;
  MessageParser parser;
  for (std::size_t at = 0; at < bytes.size() && taken.fault.empty(); at += portion) {
    const std::string part = bytes.substr(at, portion);
    std::span<const std::byte> rest = bytes_of(part);
    while (!rest.empty() && taken.fault.empty()) {
      const auto fault = parser.take(rest, [&](const ReceivedMessage& message) {
        taken.messages.push_back(message.type + "|" + message.device + "|" + std::to_string(message.version));
        return false;  // what is left comes with the next call
      });
      taken.fault = fault.value_or("");
    }
  }
  return taken;
}

TEST(OpenIgtlinkParser, AnyPortionsGiveTheSameMessages) {
  const std::string bytes = plain_igtl::encode({1, "GET_STATUS", "", 0}) +
                            plain_igtl::encode({2, "STATUS", "Slicer", 7, std::string(31, 'x'), {{"dummy", "1"}}}) +
                            plain_igtl::encode({1, "TRANSFORM", "t", 0, std::string(48, '\1')}) +
                            plain_igtl::encode({2, "GET_IMAGE", "a", 0});
  const Taken whole = take(bytes, bytes.size());
  EXPECT_EQ(whole.fault, "");
  EXPECT_EQ(whole.messages, (std::vector<std::string>{"GET_STATUS||1", "STATUS|Slicer|2", "TRANSFORM|t|1", "GET_IMAGE|a|2"}));
  for (const std::size_t portion : {1, 7, 57, 58, 59, 200}) EXPECT_EQ(take(bytes, portion).messages, whole.messages) << portion;
}

TEST(OpenIgtlinkParser, RefusesWhatIsMalformed) {
  const std::string good = plain_igtl::encode({1, "STRING", "s", 0, "body"});
  const auto with = [&](std::size_t place, const std::string& other) {
    std::string bytes = good;
    bytes.replace(place, other.size(), other);
    return take(bytes, 64).fault;
  };
  EXPECT_NE(with(0, std::string("\0\3", 2)).find("version 3"), std::string::npos);
  EXPECT_NE(with(0, std::string("\0\0", 2)).find("version 0"), std::string::npos);
  EXPECT_NE(with(2, std::string(12, '\0')).find("no word"), std::string::npos);
  EXPECT_NE(with(2, "S\nRING").find("no word"), std::string::npos);
  EXPECT_NE(with(42, std::string(8, '\x7F')).find("more than"), std::string::npos);
  EXPECT_NE(with(58, "b0dy").find("check sum"), std::string::npos);
  EXPECT_EQ(with(14, "\n"), "");  // names of devices are anybody's

  // Of version 2: less than an extended header, and one that states more than there is.
  const auto raw = [](const std::string& body) {
    std::string bytes = plain_igtl::encode({1, "STATUS", "", 0, body});
    bytes[1] = 2;
    return take(bytes, bytes.size()).fault;
  };
  EXPECT_NE(raw("short").find("extended header"), std::string::npos);
  EXPECT_NE(raw(std::string("\0\x0C\xFF\xFF\0\0\0\0\0\0\0\0", 12)).find("extended header states"), std::string::npos);
  EXPECT_NE(raw(std::string("\0\x0C\0\0\xFF\xFF\xFF\xFF\0\0\0\0", 12)).find("extended header states"), std::string::npos);
  EXPECT_NE(raw(std::string("\0\4\0\0\0\0\0\0\0\0\0\0", 12)).find("extended header states"), std::string::npos);
  EXPECT_EQ(raw(std::string("\0\x0C\0\0\0\0\0\0\0\0\0\0", 12)), "");
}

}  // namespace
}  // namespace echoform::openigtlink
