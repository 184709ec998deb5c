// A connection to an instrument: what it is told, and what it answers.
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

/// "micropulse 10.1.1.2:1067", as errors and the log have it.
[[nodiscard]] std::string name_of(const SourceOptions& options);

/// One thread. All that waits ends within a tenth of a second once the source is to stop: then nothing is promised of what was
/// waited for. RuntimeFault where the connection breaks or an answer does not come in time, InputError for what cannot be
/// understood.
class Conversation {
 public:
  /// What the instrument calls an error, and is not thrown, goes to `say`. All outlive this.
  Conversation(const SourceOptions& options, const WakeBell& bell, const std::atomic<bool>& stopping,
               LiveSourceCounters& counters, std::function<void(const std::string&)> say);

  /// Whatever it was doing ends, and what it had sent is read before it is asked anything. InputError for an instrument that has
  /// another rate then, or fewer than `channels`.
  void reset(const InstrumentSettings& settings, std::size_t channels);
  /// InputError, naming `what`, with the instrument's words for lines that it refuses.
  void tell(const std::vector<std::string>& lines, std::string_view what);
  /// The lines, each with its end.
  void send(const std::vector<std::string>& lines, std::chrono::milliseconds time);

  /// What has been read and not been asked for.
  [[nodiscard]] std::optional<Reply> next() { return parser_.next(); }
  /// Reads what is there; waits a little where there is nothing, and returns false.
  [[nodiscard]] bool take_bytes();
  /// Reads and forgets for this long.
  void drain(std::chrono::milliseconds time);

 private:
  /// Reads until such a reply comes; none once it is to stop. Errors that come before are kept in refusals_.
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
