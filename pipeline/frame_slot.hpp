// A frame lives in one slot from its first byte to its publication. Slots are made once and are reused in a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "acquisition/frame_stamp.hpp"
#include "base/clock.hpp"
#include "base/grid.hpp"
#include "pipeline/backend.hpp"
#include "pipeline/block.hpp"

namespace echoform {

struct ImagingSetup;

enum class SlotState : std::uint8_t {
  free,
  filling,  ///< shots are arriving
  queued,   ///< complete, waiting for the engine
  imaging,
  publishing,
  draining,  ///< its frame is dropped, but a lane still writes into it: neither free nor in flight
};

enum class DropReason : std::uint8_t {
  incomplete,  ///< time-out, sequence change or disconnect before the last shot
  ring_full,   ///< no slot was free when the first shot came (drop oldest: nor one that only waited)
  superseded,  ///< drop oldest: gave its slot to a newer frame
  failed,      ///< the backend could not image it
  stopped,     ///< in flight when the pipeline stopped
};
inline constexpr std::size_t drop_reason_count = 5;

/// What to do with a new frame when no slot is free.
enum class DropPolicy : std::uint8_t { block_sender, drop_oldest, drop_newest };

/// An image of one frame, in memory that the host may read once the frame is imaged: [z, y, x] of its description's kind and
/// grid.
struct SlotOutput {
  Buffer data;
  float reference = 1.0F;  ///< value shown as 0 dB, or as the end of a scale of numbers
};

struct StageTiming {
  std::string_view stage;  ///< names live as long as the program
  std::chrono::nanoseconds duration{0};
};

struct FrameSlot {
  std::size_t index = 0;
  Buffer samples;  ///< staging; frame_bytes of the acquisition, rows as its layout has them

  // Set by the source.
  std::uint64_t sequence = 0;
  WallTime acquisition_time{0};  ///< stated by the sender; 0 where unknown
  /// Count of the probe's encoder, from the shot with the lowest transmit index that stated one; none where no shot did.
  std::optional<EncoderCount> position;
  SteadyTime first_byte_time{0};
  SteadyTime last_byte_time{0};

  /// Whether the envelopes will be read. If not, an engine need not bring them to the host, and they must not be read. Set
  /// before the slot is submitted.
  bool envelope_wanted = true;
  /// The setup that the frame is imaged by. Set before the slot is submitted, if any code reads it.
  std::shared_ptr<const ImagingSetup> setup;

  // Set by the engine. No other code uses it while the slot fills, since the engine may be exchanged meanwhile.
  std::vector<SlotOutput> outputs;  ///< as setup->recipe.outputs; an envelope is only valid where envelope_wanted
  /// Durations of the steps of the frame. Once the engine has equipped the slot there is space for all of them: frames
  /// allocate nothing.
  std::vector<StageTiming> timings;
  std::uint64_t clipped_samples = 0;
  std::uint64_t invalid_samples = 0;  ///< NaN or infinite, replaced by 0
  /// For a scan, the number of cells that have contributed to the image, which is shown again for a frame that adds none.
  /// Without a value, the frame is an image of its own.
  std::optional<std::uint64_t> scan_cells;
};

}  // namespace echoform
