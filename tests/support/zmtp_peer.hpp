// A peer that speaks ZMTP 3.0 by hand, without encryption: what no library lets its user send.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace echoform::testing_support {

/// All of it waits for the server as long as the test may run; a connection that ends is an error that is thrown.
class ZmtpPeer {
 public:
  /// A socket that is not connected yet.
  ZmtpPeer() : socket_(context_) { socket_.open(boost::asio::ip::tcp::v4()); }
  /// Connected and no more: it has not said a word.
  explicit ZmtpPeer(std::uint16_t port) : socket_(context_) { connect(port); }
  void connect(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }
  /// Through its handshake, as a socket of this type: "SUB", "REQ", "PUSH".
  ZmtpPeer(std::uint16_t port, std::string_view type) : ZmtpPeer(port) {
    std::string greeting("\xFF\0\0\0\0\0\0\0\0\x7F\x03\0NULL", 16);
    greeting.resize(64);
    send(greeting);
    read(64);
    std::string ready("\x05READY\x0BSocket-Type\0\0\0", 21);
    ready.push_back(static_cast<char>(type.size()));
    ready.append(type);
    send(command(ready));
    static_cast<void>(frame());
  }

  void send(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  /// False once the server has ended the connection.
  bool try_send(std::string_view bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }
  /// As much as fits now of these bytes over and over, from where the last call ended. A sender that waited for the server to
  /// take it would not learn for long that it was cut off: the system opens no window for what nobody will read.
  void send_some(std::string_view over_and_over) {
    socket_.non_blocking(true);
    boost::system::error_code error;
    sent_ += socket_.write_some(boost::asio::buffer(over_and_over.substr(sent_ % over_and_over.size())), error);
  }
  /// Reads until the server ends the connection.
  void wait_for_end() {
    boost::system::error_code error;
    std::array<char, 256> bytes{};
    while (!error) static_cast<void>(socket_.read_some(boost::asio::buffer(bytes), error));
  }
  /// The next frame's contents, at most 255 bytes of them.
  std::string frame() {
    const std::string head = read(2);
    return read(static_cast<std::uint8_t>(head[1]));
  }
  /// Sends a PING and skips what comes before its PONG: all that was sent before has been read by then.
  void ping() {
    send(command(std::string("\x04PING\0\0", 7)));
    while (!frame().starts_with("\x04PONG")) {
    }
  }
  /// Goes without a goodbye: by RST, as a program that is killed with unread bytes does.
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }

  static std::string command(std::string_view body) { return framed('\x04', body); }
  static std::string message(std::string_view body, bool more = false) { return framed(more ? '\x01' : '\0', body); }
  static std::string subscription(std::string_view prefix) {
    std::string body("\x01");
    body.append(prefix);
    return message(body);
  }

 private:
  static std::string framed(char flags, std::string_view body) {
    std::string frame{flags, static_cast<char>(body.size())};
    if (body.size() > 255) {
      frame.assign(1, static_cast<char>(flags | 2));  // the length takes eight bytes
      for (unsigned shift = 64; shift > 0; shift -= 8) frame.push_back(static_cast<char>((body.size() >> (shift - 8)) & 0xFFU));
    }
    frame.append(body);
    return frame;
  }
  std::string read(std::size_t count) {
    std::string bytes(count, '\0');
    boost::asio::read(socket_, boost::asio::buffer(bytes));
    return bytes;
  }
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_;
  std::size_t sent_ = 0;  // by send_some()
};

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace echoform::testing_support
