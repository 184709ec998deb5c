// A client of OpenIGTLink written from the specification alone, without anything of the server's code: headers, check sums bit by
// bit, extended headers and metadata.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace echoform::plain_igtl {

inline std::uint64_t sum_of_byte(std::uint64_t byte) {
  std::uint64_t sum = byte << 56;
  for (int bit = 0; bit < 8; ++bit) {
    const bool carry = (sum >> 63) != 0;
    sum <<= 1;
    if (carry) sum ^= 0x42F0E1EBA9EA3693U;
  }
  return sum;
}

inline std::uint64_t sum_of(const std::string& bytes) {
  static const auto sums = [] {
    std::array<std::uint64_t, 256> all{};
    for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = sum_of_byte(byte);
    return all;
  }();
  std::uint64_t sum = 0;
  for (const char c : bytes) sum = (sum << 8) ^ sums[(sum >> 56) ^ static_cast<unsigned char>(c)];
  return sum;
}

inline std::string big_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int k = bytes - 1; k >= 0; --k) text += static_cast<char>((number >> (8 * k)) & 0xFF);
  return text;
}
inline std::uint64_t number_at(const std::string& bytes, std::size_t place, std::size_t size) {
  std::uint64_t number = 0;
  for (const char c : bytes.substr(place, size)) number = (number << 8) | static_cast<unsigned char>(c);
  return number;
}
inline float real_at(const std::string& bytes, std::size_t place) {
  const auto bits = static_cast<std::uint32_t>(number_at(bytes, place, 4));
  float value = 0.0F;
  std::memcpy(&value, &bits, 4);
  return value;
}

struct Message {
  unsigned version = 1;
  std::string type;
  std::string device;
  std::uint64_t timestamp = 0;
  std::string content{};
  std::map<std::string, std::string> metadata{};
};

inline std::string field(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

/// As it goes over the wire; of version 2 with its metadata.
inline std::string encode(const Message& message) {
  std::string body = message.content;
  if (message.version == 2) {
    std::string table = big_endian(message.metadata.size(), 2);
    std::string texts;
    for (const auto& [name, value] : message.metadata) {
      table += big_endian(name.size(), 2) + big_endian(3, 2) + big_endian(value.size(), 4);
      texts += name + value;
    }
    body =
        big_endian(12, 2) + big_endian(table.size(), 2) + big_endian(texts.size(), 4) + big_endian(0, 4) + body + table + texts;
  }
  return big_endian(message.version, 2) + field(message.type, 12) + field(message.device, 20) + big_endian(message.timestamp, 8) +
         big_endian(body.size(), 8) + big_endian(sum_of(body), 8) + body;
}

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(context_) { socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port}); }
  void send(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  void ask(std::string type, std::string device = "", unsigned version = 1) {
    send(encode({version, std::move(type), std::move(device), 0}));
  }

  /// The next message; fails where it is malformed. An empty type where the server has closed.
  Message read() {
    const std::string header = take(58);
    Message message;
    if (header.empty()) return message;
    message.version = static_cast<unsigned>(number_at(header, 0, 2));
    message.type = header.substr(2, 12).c_str();
    message.device = header.substr(14, 20).c_str();
    message.timestamp = number_at(header, 34, 8);
    const std::string body = take(number_at(header, 42, 8));
    EXPECT_EQ(number_at(header, 50, 8), sum_of(body)) << message.type;
    if (message.version == 1) {
      message.content = body;
    } else {
      EXPECT_EQ(message.version, 2u);
      take_apart(body, message);
    }
    return message;
  }
  /// The next of this type; whatever comes before is passed over.
  Message read(const std::string& type) {
    for (;;) {
      Message message = read();
      if (message.type == type || message.type.empty()) return message;
    }
  }

 private:
  std::string take(std::size_t size) {
    std::string bytes(size, '\0');
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::buffer(bytes), error);
    return error ? std::string() : bytes;
  }

  static void take_apart(const std::string& body, Message& message) {
    ASSERT_GE(body.size(), 12u);
    const std::size_t extended = number_at(body, 0, 2);
    const std::size_t table = number_at(body, 2, 2);
    const std::size_t texts = number_at(body, 4, 4);
    ASSERT_GE(extended, 12u);
    ASSERT_LE(extended + table + texts, body.size());
    message.content = body.substr(extended, body.size() - extended - table - texts);
    const std::string rows = body.substr(body.size() - table - texts, table);
    std::string rest = body.substr(body.size() - texts);
    const std::size_t count = table == 0 ? 0 : number_at(rows, 0, 2);
    ASSERT_EQ(table, table == 0 ? 0 : 2 + 8 * count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t name = number_at(rows, 2 + 8 * k, 2);
      const std::size_t value = number_at(rows, 6 + 8 * k, 4);
      ASSERT_LE(name + value, rest.size());
      message.metadata[rest.substr(0, name)] = rest.substr(name, value);
      rest.erase(0, name + value);
    }
    EXPECT_TRUE(rest.empty());
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace echoform::plain_igtl
