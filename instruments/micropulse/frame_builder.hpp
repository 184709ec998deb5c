// Builds shots and frames from A-scans as they arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "acquisition/frame_layout.hpp"
#include "base/clock.hpp"
#include "instruments/micropulse/instrument_settings.hpp"
#include "instruments/micropulse/reply_parser.hpp"
#include "pipeline/frame_intake.hpp"
#include "transport/acquisition/live_counters.hpp"

namespace echoform::micropulse {

/// Puts A-scans straight into the places that the intake gives for shots. The A-scans of an event follow each other, in any
/// order; events follow each other by their numbers, and a frame begins where they go back, or where an A-scan comes again. A
/// shot that lacks one when the next begins is abandoned, so that its frame is not complete, and is counted as such. One thread.
class FrameBuilder {
 public:
  /// `acquisition` comes from instrument_acquisition(), `channel_base` is what the instrument calls its channel 1. All outlive
  /// this.
  FrameBuilder(FrameIntake& intake, LaneId lane, const Acquisition& acquisition, const InstrumentSettings& settings,
               unsigned channel_base, LiveSourceCounters& counters);

  enum class Outcome : std::uint8_t {
    taken,
    wait,    ///< the intake has no place: call again with the same A-scan
    closed,  ///< the intake takes no more of this stream
  };
  /// `first_sequence` and those that follow are the frames' numbers. Throws InputError for an A-scan that has another length or
  /// format than was set up.
  [[nodiscard]] Outcome take(const Reply& a_scan, WallTime now, std::optional<EncoderCount> position);
  /// Ends the frame: no more of it will come.
  void end_frame();
  /// Handles the message of encoders that the instrument sends once in each buffered cycle. Once such a message has
  /// come after a whole frame and before the next one, it marks the border of cycles. A later message within a frame then
  /// means that this frame mixes two cycles: first events of one, last events of the other. The two halves become two frames,
  /// both incomplete. Until then messages within frames are ignored, since the instrument may send them in the middle of its
  /// cycles.
  void cycle_mark();

  /// The number of the next frame.
  std::uint64_t sequence = 0;
  /// Number of A-scans for which the frame has no row: those of other tests or channels.
  [[nodiscard]] std::uint64_t strays() const noexcept { return strays_; }

 private:
  [[nodiscard]] std::span<const std::byte> samples_of(const Reply& a_scan) const;
  void end_shot();
  [[nodiscard]] Outcome begin_shot(std::uint32_t event);

  FrameIntake& intake_;
  const LaneId lane_;
  const FrameLayout layout_;
  const InstrumentSettings& settings_;
  const std::uint32_t channel_base_;
  LiveSourceCounters& counters_;

  bool in_frame_ = false;
  WallTime time_{0};
  std::optional<EncoderCount> position_;
  std::size_t whole_shots_ = 0;         // of the frame
  std::optional<std::uint32_t> event_;  // of the frame's last shot
  ShotPlace shot_;
  std::vector<bool> seen_;  // rows of the shot
  std::size_t missing_ = 0;
  bool behind_whole_ = false;  // the last frame to end was whole
  bool marks_part_ = false;    // a mark has come behind a whole frame
  std::uint64_t strays_ = 0;
};

}  // namespace echoform::micropulse
