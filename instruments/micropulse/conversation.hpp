// A connection to an instrument: sends commands and reads answers.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wake_bell.hpp"
#include "instruments/instrument_link.hpp"
#include "instruments/micropulse/micropulse_source.hpp"
#include "instruments/micropulse/reply_parser.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform::micropulse {

/// The instrument's name in errors and the log: "micropulse 10.1.1.2:1067".
[[nodiscard]] std::string name_of(const SourceOptions& options);

/// Used by one thread. Every function that waits returns within a tenth of a second once the source is to stop, whether or
/// not the answer has come. Functions throw RuntimeFault where the connection breaks or an answer does not come in time,
/// InputError for answers that cannot be understood.
class Conversation {
 public:
  /// Errors that the instrument reports, and that are not thrown, go to `say`. All arguments must outlive this object.
  Conversation(const SourceOptions& options, const WakeBell& bell, const std::atomic<bool>& stopping,
               LiveSourceCounters& counters, std::function<void(const std::string&)> say);

  /// Resets the instrument: ends whatever it was doing, and reads what it had sent before. Throws InputError for an
  /// instrument that has another rate afterwards, or fewer than `channels` channels.
  void reset(const InstrumentSettings& settings, std::size_t channels);
  /// Sends lines and waits until the instrument has taken them. Throws InputError, naming `what`, with the instrument's
  /// words for lines that it refuses.
  void tell(const std::vector<std::string>& lines, std::string_view what);
  /// Sends the lines, each with its end.
  void send(const std::vector<std::string>& lines, std::chrono::milliseconds time);

  /// The next message that has been read and is no awaited answer.
  [[nodiscard]] std::optional<Reply> next() { return parser_.next(); }
  /// Reads the bytes that have arrived. Where there are none, waits a little and returns false.
  [[nodiscard]] bool take_bytes();
  /// Reads and discards bytes for this long.
  void drain(std::chrono::milliseconds time);

 private:
  /// Reads until a reply of this kind comes; none once the source is to stop. Errors that come before it are kept in
  /// refusals_.
  [[nodiscard]] std::optional<Reply> await(ReplyKind kind, std::string_view what);
  void note(std::size_t bytes) { LiveSourceCounters::add(counters_.bytes, bytes); }

  const SourceOptions& options_;
  const WakeBell& bell_;
  const std::atomic<bool>& stopping_;
  LiveSourceCounters& counters_;
  const std::function<void(const std::string&)> say_;
  const std::string name_;
  InstrumentLink link_;
  ReplyParser parser_;
  std::vector<std::byte> scratch_;
  std::string refusals_;
};

}  // namespace echoform::micropulse
