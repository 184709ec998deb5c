// Where the encoder of a simulated probe stands: back and forth between two counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "acquisition/frame_stamp.hpp"

namespace echoform {

/// Maximum magnitude of the counts of a travel.
inline constexpr EncoderCount most_encoder_counts = 1'000'000'000'000;
inline constexpr std::uint64_t most_encoder_pause = 1'000'000;

struct EncoderTravel {
  EncoderCount first = 0;   ///< in frame 0; within most_encoder_counts either way
  EncoderCount last = 0;    ///< where it reverses; likewise, above or below `first`
  EncoderCount step = 0;    ///< counts from frame to frame, 0 .. most_encoder_counts; 0: there is no encoder
  std::uint64_t pause = 0;  ///< further frames that it stands still at either end, 0 .. most_encoder_pause
};

/// Throws InputError, naming `where` and the key, for what is out of these ranges.
void validate(const EncoderTravel& travel, std::string_view where);

/// Frames after which the counts come again; 1 where they are all alike. Expects a valid travel.
[[nodiscard]] std::uint64_t travel_frames(const EncoderTravel& travel);

/// The count in frame `frame`: from first by steps to last, which the last step reaches however short it is, `pause` frames more
/// there, back by steps of the same length to first, `pause` frames more there, and so on. None without an encoder. Expects a
/// valid travel.
[[nodiscard]] std::optional<EncoderCount> encoder_count(const EncoderTravel& travel, std::uint64_t frame);

}  // namespace echoform
