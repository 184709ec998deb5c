// The interface to which sources pass shots. It has no sockets: TCP sessions and other endpoints call it with what they
// decoded.
//
// A source opens a stream with an acquisition. For each shot it then asks for a place, fills the place, and reports this.
// The intake assembles frames from shots in any order over several lanes (connections), takes leases on slots under the
// drop policy, and counts. All calls are thread-safe; time is passed in, so that tests control it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_stamp.hpp"
#include "base/clock.hpp"
#include "base/errors.hpp"

namespace echoform {

/// One connection of a stream. Shots on a lane come with sequences that do not go back, except after a restart.
using LaneId = std::uint32_t;

struct ShotHeader {
  std::uint64_t sequence = 0;
  std::uint32_t transmit = 0;  ///< element that fires; selects the rows
  WallTime acquisition_time{0};
  std::optional<EncoderCount> position = {};  ///< of the probe's encoder when the shot fired; none: not stated
};

/// The header of one shot of a frame.
[[nodiscard]] inline ShotHeader shot_of(const FrameStamp& stamp, std::uint32_t transmit) {
  return {
      .sequence = stamp.sequence, .transmit = transmit, .acquisition_time = stamp.acquisition_time, .position = stamp.position};
}

enum class ShotVerdict : std::uint8_t {
  accepted,   ///< fill `place`, then call finish_shot
  wait,       ///< no slot is free and the policy is to block the sender: stop reading; the wake-up given to open_lane is called
  discarded,  ///< refused frame, duplicate or stale shot: read the payload into scratch memory and forget it
  invalid,    ///< transmit out of range or wrong payload length: the peer broke the contract; close it
};

struct ShotPlace {
  ShotVerdict verdict = ShotVerdict::invalid;
  std::span<std::byte> place;  ///< exactly the shot's payload, in the leased slot
  std::uint64_t ticket = 0;    ///< to be given back to finish_shot
};

class FrameIntake {
 public:
  virtual ~FrameIntake() = default;

  [[nodiscard]] virtual const Acquisition& acquisition() const noexcept = 0;

  /// `wake` is called (from any thread, never under a lock of the intake) when a lane that got `wait` may ask again; it must
  /// not wait for anything, nor close another lane, and may be called without need. Throws InputError with the reason to send
  /// back: eight lanes are open already, or another sender has taken the stream over (StreamBusy).
  [[nodiscard]] virtual LaneId open_lane(std::function<void()> wake) = 0;
  /// The lane is gone: frames that can no longer become complete are dropped{incomplete}. `wake` is not called afterwards.
  /// The lane writes no more: a shot that it left open counts as abandoned.
  virtual void close_lane(LaneId lane) = 0;

  /// One shot at a time on a lane: the next begins when the last one is finished or abandoned.
  [[nodiscard]] virtual ShotPlace begin_shot(LaneId lane, const ShotHeader& header, std::size_t payload_bytes) = 0;
  /// The payload is in place. Completes the frame with its last shot. Every accepted shot is finished or, if its lane
  /// breaks in mid-payload, abandoned; a slot is not reused before.
  virtual void finish_shot(LaneId lane, std::uint64_t ticket) = 0;
  virtual void abandon_shot(LaneId lane, std::uint64_t ticket) = 0;

  /// Drops frames that have waited longer than the incomplete time-out. Call it now and then.
  virtual void expire() = 0;
};

/// The stream is taken; the same Hello may be accepted shortly after. A sender that was killed may leave its lanes open until
/// what it had sent is read.
class StreamBusy final : public InputError {
 public:
  using InputError::InputError;
  StreamBusy() : InputError("acquisition stream: another sender is active") {}
};

/// A refusal whose line for the sender has less detail than the line in the log: it does not state where files of the
/// server are.
class StreamRefused final : public InputError {
 public:
  StreamRefused(const std::string& line, std::string for_sender)
      : InputError(line), for_sender_(one_line(std::move(for_sender))) {}
  [[nodiscard]] const std::string& for_sender() const noexcept { return for_sender_; }

 private:
  std::string for_sender_;
};

/// The line about a refusal or a fault for every receiver except the log.
[[nodiscard]] inline std::string line_for_others(const std::exception& error) {
  const auto* const refused = dynamic_cast<const StreamRefused*>(&error);
  return refused != nullptr ? refused->for_sender() : error.what();
}

/// Opens streams. Implemented by the pipeline; given to sources.
class StreamHost {
 public:
  virtual ~StreamHost() = default;
  /// Prepares everything for frames of this acquisition, or joins the stream of this name if it is open with an equal
  /// acquisition (further connections of one sender). Throws InputError with the reason to send back: another sender is
  /// active (StreamBusy), the acquisition is out of limits, or the image is impossible (StreamRefused where the reason
  /// names private details of the server). May take seconds.
  [[nodiscard]] virtual std::shared_ptr<FrameIntake> open_stream(std::uint64_t session, const Acquisition& acquisition) = 0;
  /// Whether open_stream() would refuse this session as StreamBusy now. For threads that must not be delayed: it neither
  /// waits nor looks at an acquisition. The decision is that of open_stream().
  [[nodiscard]] virtual bool is_busy_for(std::uint64_t /*session*/) const { return false; }
};

/// An endpoint that receives frames: made from the configuration, started once, stopped once.
class Source {
 public:
  virtual ~Source() = default;
  /// Binds and begins; RuntimeFault if the port is in use. Returns at once.
  virtual void start(StreamHost& host) = 0;
  virtual void stop() = 0;
  /// "tcp 127.0.0.1:17171", for logs.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace echoform
