// Plays frames at a rate, from any source of frames to any function that sends them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "acquisition/acquisition.hpp"
#include "acquisition/frame_stamp.hpp"
#include "base/clock.hpp"
#include "simulators/schedule.hpp"

namespace echoform {

/// Frames that can be played: a simulator's cycle, a recording.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// The same for the source's whole life.
  [[nodiscard]] virtual const Acquisition& acquisition() const noexcept = 0;
  /// Distinct frames, at least 1.
  [[nodiscard]] virtual std::uint64_t frames() const noexcept = 0;
  /// Whether the last frame leads smoothly into the first, so that playing goes round by itself.
  [[nodiscard]] virtual bool cyclic() const noexcept = 0;
  /// Bytes of frame `index` < frames(), acquisition().frame_bytes() of them, valid until the next call. RuntimeFault if it
  /// can no longer be read.
  [[nodiscard]] virtual std::span<const std::byte> frame(std::uint64_t index) = 0;
  /// Count of the probe's encoder when frame `number` of the playing was taken, which goes on counting where it goes round;
  /// none where there is no encoder.
  [[nodiscard]] virtual std::optional<EncoderCount> position(std::uint64_t /*number*/) const { return std::nullopt; }
  /// One line for logs.
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// Takes a frame and hands it on; may block while the receiver holds it up. Exceptions end the run.
using SendFrame = std::function<void(const FrameStamp& stamp, std::span<const std::byte> frame)>;

/// Returns after `wait`, or sooner once a stop is requested.
using WaitFor = std::function<void(std::chrono::nanoseconds wait, std::stop_token stop)>;
/// Sleeps on a condition variable.
void wait_in_real_time(std::chrono::nanoseconds wait, std::stop_token stop);

struct PlaybackProgress {
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_skipped = 0;  ///< by LatePolicy::skip: gaps in the sequence
  std::uint64_t bytes_sent = 0;
  std::chrono::nanoseconds elapsed{0};  ///< since the run began
  double rate = 0.0;                    ///< frames/s over the whole run, 0 before any time has passed
  TimingError timing_error;
};

struct PlaybackOptions {
  std::uint64_t first_sequence = 0;          ///< frame k of the schedule goes out as first_sequence + k
  std::optional<std::uint64_t> frame_limit;  ///< ends after so many have been sent; none: see `loop`
  bool loop = true;  ///< begins again after the last frame; otherwise ends there. Cyclic sources always do.
  std::chrono::nanoseconds report_interval{std::chrono::seconds(1)};
};

using ReportProgress = std::function<void(const PlaybackProgress&)>;

/// Plays `source` through `send` by `schedule` (which it starts) until the limit, the end or `stop`. Frame k of the schedule
/// is frame k modulo frames() of the source, stamped with the wall clock's time at its sending and the source's position.
/// `report` may be empty; it is called from this thread, at most once an interval. Allocates nothing a frame beyond what the
/// callbacks do.
PlaybackProgress run_source(FrameSource& source, const SendFrame& send, SendSchedule& schedule, std::stop_token stop,
                            const PlaybackOptions& options = {}, const ReportProgress& report = {},
                            const WaitFor& wait_for = wait_in_real_time);

}  // namespace echoform
