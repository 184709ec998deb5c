// What the search over the nodes of a curve finds of a ray, before its time is known: shared by host and device.
#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/host_device.hpp"

namespace echoform::beamform {

struct Turn {
  static constexpr std::uint32_t several = 1U << 31;  ///< of `node`: there is another turn

  std::uint32_t node;  ///< after the turn of the slope, below 2^31; 0: none
  float start;         ///< where the slope is 0 between the two nodes, 0 .. 1
};

/// The bits of a turn in the place of the ray's time, and back. The place is read and written as a double alone.
ECHOFORM_HOST_DEVICE double kept_as_time(const Turn& turn) {
  std::uint32_t start = 0;
  std::memcpy(&start, &turn.start, sizeof(start));
  const std::uint64_t bits = std::uint64_t{start} << 32 | turn.node;
  double time = 0.0;
  std::memcpy(&time, &bits, sizeof(time));
  return time;
}
ECHOFORM_HOST_DEVICE Turn turn_kept_in(double time) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &time, sizeof(bits));
  const auto start = static_cast<std::uint32_t>(bits >> 32);
  Turn turn{static_cast<std::uint32_t>(bits), 0.0F};
  std::memcpy(&turn.start, &start, sizeof(start));
  return turn;
}

}  // namespace echoform::beamform
