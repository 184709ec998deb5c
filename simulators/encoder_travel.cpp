#include "simulators/encoder_travel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/errors.hpp"

namespace echoform {

void validate(const EncoderTravel& travel, std::string_view where) {
  const auto check = [where](std::string_view key, EncoderCount value, EncoderCount least) {
    if (value >= least && value <= most_encoder_counts) return;
    throw InputError(fmt::format("{} {}", where, key), fmt::format("{}", value),
                     fmt::format("{} to {}", least, most_encoder_counts));
  };
  check("encoder_first", travel.first, -most_encoder_counts);
  check("encoder_last", travel.last, -most_encoder_counts);
  check("encoder_step", travel.step, 0);
  if (travel.pause > most_encoder_pause) {
    throw InputError(fmt::format("{} encoder_pause", where), fmt::format("{}", travel.pause),
                     fmt::format("0 to {}", most_encoder_pause));
  }
}

namespace {

std::uint64_t steps_of(const EncoderTravel& travel, EncoderCount length) {
  return static_cast<std::uint64_t>((length - 1) / travel.step + 1);
}

}  // namespace

std::uint64_t travel_frames(const EncoderTravel& travel) {
  const EncoderCount length = std::abs(travel.last - travel.first);
  return travel.step == 0 || length == 0 ? 1 : 2 * (steps_of(travel, length) + travel.pause);
}

std::optional<EncoderCount> encoder_count(const EncoderTravel& travel, std::uint64_t frame) {
  if (travel.step == 0) return std::nullopt;
  const EncoderCount way = travel.last - travel.first;
  const EncoderCount length = way < 0 ? -way : way;
  if (length == 0) return travel.first;
  const std::uint64_t steps = steps_of(travel, length);
  // Half a period begins where the probe leaves one end, and ends with the last frame in which it stands at the other.
  const std::uint64_t half = steps + travel.pause;
  const std::uint64_t at = frame % (2 * half);
  const bool back = at >= half;
  const auto taken = static_cast<EncoderCount>(std::min(back ? at - half : at, steps));
  const EncoderCount gone = std::min(taken * travel.step, length);
  const EncoderCount from_first = back ? length - gone : gone;
  return travel.first + (way < 0 ? -from_first : from_first);
}

}  // namespace echoform
