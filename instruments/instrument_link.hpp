// A TCP connection to an instrument, for one thread that another can wake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/wake_bell.hpp"

namespace echoform {

class InstrumentLink {
 public:
  /// Connects within `time`; gives up earlier where the bell is rung. Throws RuntimeFault, with one line, where that fails.
  InstrumentLink(const std::string& host, std::uint16_t port, std::chrono::milliseconds time, const WakeBell& bell,
                 const std::atomic<bool>& stopping);
  ~InstrumentLink();
  InstrumentLink(const InstrumentLink&) = delete;
  InstrumentLink& operator=(const InstrumentLink&) = delete;

  /// Sends all of `text` within `time`, or within a tenth of a second once the source is to stop. Throws RuntimeFault where
  /// the connection breaks or the other end takes no more.
  void send(std::string_view text, std::chrono::milliseconds time);
  /// Reads the bytes that have arrived into `place` and returns their number; nothing where none have arrived. Throws
  /// RuntimeFault where the other end has closed.
  [[nodiscard]] std::optional<std::size_t> receive(std::span<std::byte> place);
  /// Returns when bytes have arrived, the bell is rung or the time is over.
  void wait(std::chrono::milliseconds time);

 private:
  const WakeBell& bell_;
  const std::atomic<bool>& stopping_;
  std::string name_;
  int socket_ = -1;
};

}  // namespace echoform
