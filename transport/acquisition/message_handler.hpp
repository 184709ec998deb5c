// Handles whole acquisition messages of unknown origin, as ZeroMQ's PULL socket delivers them: the messages of all senders
// in one sequence. The session in a message identifies its sender; one session at a time is imaged. The handler has no
// sockets and takes the time from the clock, so that tests and fuzzers can drive it. Each message is judged by itself: a bad
// one is counted and discarded.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/admission.hpp"
#include "transport/acquisition/live_counters.hpp"
#include "transport/acquisition/message_reader.hpp"

namespace echoform {

struct MessageHandlerOptions {
  std::string name = "zeromq";  ///< for log lines
  std::string token;            ///< where not empty, a Hello must carry it
  AcquisitionLimits limits;
  std::chrono::nanoseconds idle_timeout{std::chrono::seconds(5)};  ///< a session that is silent for so long is over; > 0
};

/// One message as received: one part, or two parts of which the second is the payload. A message with more parts is refused.
using MessageParts = std::span<const std::span<const std::byte>>;

/// Used by one thread at a time. Nothing is allocated for a Shot, nor for a Hello that only repeats the one before.
class MessageHandler {
 public:
  /// `wake` is called, from any thread, when resume() may be called. `host`, `clock`, `counters` and `warnings` outlive it.
  MessageHandler(MessageHandlerOptions options, StreamHost& host, const Clock& clock, LiveSourceCounters& counters,
                 PeerWarnings& warnings, std::function<void()> wake);
  /// Calls close().
  ~MessageHandler();
  MessageHandler(const MessageHandler&) = delete;
  MessageHandler& operator=(const MessageHandler&) = delete;

  enum class Verdict : std::uint8_t {
    taken,  ///< the message's bytes are not needed any more
    wait,   ///< no slot is free: keep the bytes, take no other message, call resume() after the wake-up
  };
  /// A Hello may take as long as the host needs to open the stream.
  [[nodiscard]] Verdict take(MessageParts parts);
  [[nodiscard]] Verdict resume();

  /// Checks the time-outs. Call it regularly, when all messages received before have been taken.
  void tick();
  /// Ends the active session, without counting anything.
  void close();

 private:
  /// The sender that is imaged.
  struct Active {
    std::uint64_t session = 0;
    std::string sender;
    std::vector<std::byte> hello;  ///< its header, as it came
    Acquisition acquisition;       ///< as the Hello says
    FrameLayout layout;
    std::shared_ptr<FrameIntake> intake;
    LaneId lane = 0;
    SteadyTime heard{0};
  };
  /// A refused session. Its Hello is not checked again before `until`, and the same reason is counted and logged once.
  struct Refused {
    std::uint64_t session = 0;
    SteadyTime until{0};
    std::string reason;
  };

  Verdict take_message(MessageParts parts);
  /// The header and payload of a message whose prefix was read; false if lengths and parts do not agree.
  bool split(MessageParts parts, std::span<const std::byte>& header);
  void take_hello(std::span<const std::byte> header);
  void open(const HelloContents& contents, std::span<const std::byte> header);
  void take_end();
  Verdict take_shot();
  Verdict place_shot();
  void skip_shot();
  void fail(DecodeReason reason, const std::string& text);
  void fail_by_reader() { fail(reader_.error().reason, reader_.error().text); }
  /// `answer` is the reason as reported outside of the log, where it differs.
  void refuse(std::uint64_t session, const std::string& sender, const std::string& reason, std::optional<DecodeReason> error = {},
              const std::string& answer = {});
  Refused* find_refused(std::uint64_t session);
  Refused& note_refused(std::uint64_t session);
  void end_after(const std::exception& error);

  const MessageHandlerOptions options_;
  StreamHost& host_;
  const Clock& clock_;
  LiveSourceCounters& counters_;
  PeerWarnings& warnings_;
  const std::function<void()> wake_;

  MessageReader reader_;
  std::span<const std::byte> payload_;  // of the message in work
  std::optional<Active> active_;
  bool waiting_ = false;
  // Enough for the usual number of senders. A flood of invented sessions only makes log lines repeat.
  std::array<Refused, 16> refused_;
};

}  // namespace echoform
