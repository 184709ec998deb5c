// Acquisitions, frames and raw bytes for the tests of the acquisition source.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_layout.hpp"
#include "proto/acquisition.pb.h"
#include "tests/support/every_form.hpp"
#include "tests/support/patience.hpp"
#include "transport/acquisition/framing.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::testing_support {

using Bytes = std::vector<std::byte>;

inline Acquisition make_acquisition(std::size_t elements, std::size_t samples, MatrixKind matrix = MatrixKind::full,
                                    SampleEncoding encoding = SampleEncoding::int16) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(0.6e-3), Metres(0.53e-3), Hertz(5e6), Hertz(3e6));
  acquisition.matrix = matrix;
  acquisition.encoding = encoding;
  acquisition.samples = samples;
  acquisition.sample_rate = Hertz(40e6);
  acquisition.start_time = Seconds(-1e-6);
  return acquisition;
}

/// 128 bytes a shot.
inline Acquisition small_acquisition() {
  return make_acquisition(4, 16);
}

inline Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(engine());
  return bytes;
}

inline Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline Bytes hello_message(const Acquisition& acquisition, const SenderIdentity& identity) {
  return encode_message(MessageType::hello, encode_hello(identity, acquisition));
}
inline Bytes hello_message(const Acquisition& acquisition, std::uint64_t session = 7) {
  return hello_message(acquisition,
                       {.session = session, .connection_index = 0, .connection_count = 1, .sender = "test", .token = {}});
}
inline Bytes hello_message(const wire::Hello& hello) {
  return encode_message(MessageType::hello, hello.SerializeAsString());
}

inline wire::Hello wire_hello(const Acquisition& acquisition, std::uint64_t session = 7) {
  wire::Hello hello;
  hello.ParseFromString(encode_hello(
      {.session = session, .connection_index = 0, .connection_count = 1, .sender = "test", .token = {}}, acquisition));
  return hello;
}

/// A message with every field free to be wrong; the checksum is right unless changed afterwards.
inline Bytes raw_message(std::uint16_t type, const std::string& header, std::uint64_t payload_bytes, const Bytes& payload = {}) {
  Bytes message(prefix_bytes + header.size());
  std::memcpy(message.data() + prefix_bytes, header.data(), header.size());
  write_prefix(std::span(message).first<prefix_bytes>(), static_cast<MessageType>(type), std::span(message).subspan(prefix_bytes),
               payload_bytes);
  return std::move(message) + payload;
}
/// Overwrites a little-endian number in a prefix and mends the checksum, for a message that is all prefix and header.
inline Bytes with_prefix_field(Bytes message, std::size_t offset, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) message[offset + i] = static_cast<std::byte>(value >> (8 * i));
  const std::uint32_t crc =
      message_checksum(std::span(message).first<checksummed_prefix_bytes>(), std::span(message).subspan(prefix_bytes));
  for (std::size_t i = 0; i < 4; ++i) message[20 + i] = static_cast<std::byte>(crc >> (8 * i));
  return message;
}

inline Bytes shot_message(std::uint64_t sequence, std::uint32_t transmit, const Bytes& payload,
                          std::optional<std::uint64_t> stated = {}) {
  wire::Shot shot;
  shot.set_sequence(sequence);
  shot.set_transmit(transmit);
  shot.set_acquisition_time(1234567);
  return raw_message(4, shot.SerializeAsString(), stated.value_or(payload.size()), payload);
}

/// The payload of one shot out of a frame.
inline Bytes shot_payload(const Acquisition& acquisition, const Bytes& frame, std::uint32_t transmit) {
  const ByteRange bytes = FrameLayout(acquisition).shot_bytes(transmit);
  const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(bytes.first);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes.count)};
}

/// A peer that sends whatever a test passes to it.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port) {
    boost::asio::connect(socket_, std::vector{boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), port)});
    const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  void send(const Bytes& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }

  /// The next message's type; 0 at the end of the connection or after half a minute. `header` gets its header.
  std::uint16_t receive(std::string& header) {
    Bytes bytes(prefix_bytes);
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::buffer(bytes), error);
    if (error) return 0;
    const MessagePrefix prefix = read_prefix(std::span<const std::byte, prefix_bytes>(bytes.data(), prefix_bytes));
    header.resize(prefix.header_bytes);
    boost::asio::read(socket_, boost::asio::buffer(header), error);
    return error ? std::uint16_t{0} : prefix.type;
  }
  bool accepted() {
    std::string header;
    return receive(header) == static_cast<std::uint16_t>(MessageType::accept);
  }
  /// The reason of the Reject that comes next; what else came, in brackets.
  std::string reject_reason() {
    std::string header;
    const auto type = receive(header);
    wire::Reject reject;
    if (type != static_cast<std::uint16_t>(MessageType::reject) || !reject.ParseFromString(header))
      return "[type " + std::to_string(type) + "]";
    return reject.reason();
  }
  /// Whether the server has closed, and nothing more comes.
  bool closed() {
    std::array<char, 1> byte{};
    boost::system::error_code error;
    socket_.read_some(boost::asio::buffer(byte), error);
    return error == boost::asio::error::eof || error == boost::asio::error::connection_reset;
  }
  void close() { socket_.close(); }
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }
  void shut_down_send() { socket_.shutdown(boost::asio::socket_base::shutdown_send); }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
};

}  // namespace echoform::testing_support
