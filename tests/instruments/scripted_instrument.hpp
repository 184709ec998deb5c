// An instrument over a real socket that answers to a reset and to the question for its state, and sends prepared bytes once it is
// to fire: what a simulated one would never send.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace echoform::testing_support {

using Bytes = std::vector<std::uint8_t>;

/// The message 1A of one sample for each of `counts`, of 16 bits.
inline Bytes a_scan_message(std::uint32_t test, std::uint8_t channel, const std::vector<std::int16_t>& counts) {
  const std::size_t size = 8 + 2 * counts.size();
  Bytes bytes{0x1A,
              static_cast<std::uint8_t>(size),
              static_cast<std::uint8_t>(size >> 8U),
              0,
              static_cast<std::uint8_t>(test - 1),
              static_cast<std::uint8_t>((test - 1) >> 8U),
              4,
              channel};
  for (const std::int16_t count : counts) {
    const auto raw = static_cast<std::uint16_t>(count + 32768);
    bytes.push_back(static_cast<std::uint8_t>(raw));
    bytes.push_back(static_cast<std::uint8_t>(raw >> 8U));
  }
  return bytes;
}

/// A message of state, in which the first encoder counts `count`.
inline Bytes state_message(std::int32_t count = 0) {
  Bytes bytes(18, 0);
  bytes[0] = 0x15;
  for (std::size_t k = 0; k < 3; ++k) bytes[2 + k] = static_cast<std::uint8_t>(count >> (8 * k));
  return bytes;
}

/// A MicroPulse 6 with 64 channels at 50 MHz.
inline Bytes reset_message() {
  Bytes bytes(32, 0);
  bytes[0] = 0x23;
  bytes[2] = 64;
  bytes[4] = 0x50;
  bytes[9] = 50;
  bytes[17] = 1;
  return bytes;
}

/// Connection k is sent script k in pieces of `piece` bytes; the last script serves all that come later. A connection lasts until
/// the other end closes it.
class ScriptedInstrument {
 public:
  explicit ScriptedInstrument(std::vector<Bytes> scripts, std::size_t piece = 1 << 16)
      : scripts_(std::move(scripts)), piece_(piece), thread_([this] { serve(); }) {}
  ~ScriptedInstrument() {
    stopping_ = true;
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket knock(context);
    boost::system::error_code ignored;
    knock.connect(acceptor_.local_endpoint(), ignored);  // wakes who waits for a connection
    knock.close(ignored);
    thread_.join();
  }
  ScriptedInstrument(const ScriptedInstrument&) = delete;
  ScriptedInstrument& operator=(const ScriptedInstrument&) = delete;
  /// Number of stop commands received.
  [[nodiscard]] int stops() const { return stops_; }
  /// The lines received, in their order.
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  /// Answers to such a line that an argument is out of its limits.
  void refuse(const std::string& line) {
    const std::lock_guard lock(mutex_);
    refused_ = line;
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  void serve() {
    for (std::size_t number = 0; !stopping_; ++number) {
      try {
        Socket socket(context_);
        acceptor_.accept(socket);
        if (stopping_) return;
        socket.set_option(boost::asio::ip::tcp::no_delay(true));
        talk(socket, scripts_[std::min(number, scripts_.size() - 1)]);
      } catch (const boost::system::system_error&) {
        // The other end has closed: the next.
      }
    }
  }
  void talk(Socket& socket, const Bytes& script) {
    std::string line;
    for (;;) {
      char letter = 0;
      socket.read_some(boost::asio::buffer(&letter, 1));
      if (letter != '\r') {
        line += letter;
        continue;
      }
      bool refused = false;
      {
        const std::lock_guard lock(mutex_);
        lines_.push_back(line);
        refused = line == refused_;
      }
      if (refused) write(socket, {0x06, 2});
      if (line.starts_with("STX")) ++stops_;
      if (line.starts_with("RST")) write(socket, reset_message());
      if (line == "STA") write(socket, state_message());
      if (line.starts_with("STRS") || line.starts_with("STPS") || line.starts_with("CALS")) {
        for (std::size_t at = 0; at < script.size(); at += piece_) {
          const auto first = script.begin() + static_cast<std::ptrdiff_t>(at);
          write(socket, Bytes(first, first + static_cast<std::ptrdiff_t>(std::min(piece_, script.size() - at))));
        }
      }
      line.clear();
    }
  }
  static void write(Socket& socket, const Bytes& bytes) { boost::asio::write(socket, boost::asio::buffer(bytes)); }

  const std::vector<Bytes> scripts_;
  const std::size_t piece_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_{context_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<bool> stopping_{false};
  std::atomic<int> stops_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::string refused_;
  std::thread thread_;
};

}  // namespace echoform::testing_support
