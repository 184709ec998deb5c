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

/// All turns of a ray, or that they are too many to keep.
struct KeptTurns {
  static constexpr std::uint64_t too_many = ~std::uint64_t{0};

  std::uint64_t nodes = 0;  ///< after the turns, below 2^16 - 1 each; 0 where there are no more

  ECHOFORM_HOST_DEVICE void add(std::uint32_t node) { nodes = nodes >> 48 != 0 ? too_many : nodes << 16 | node; }
  /// The last one that was added, which is gone then; 0: none is left.
  [[nodiscard]] ECHOFORM_HOST_DEVICE std::uint32_t take() {
    const auto node = static_cast<std::uint32_t>(nodes & 0xffffU);
    nodes >>= 16;
    return node;
  }
};

/// The bits of a turn, or of all, in the place of the ray's time, and back. The place is read and written as a double alone.
ECHOFORM_HOST_DEVICE double kept_as_time(const KeptTurns& turns) {
  double time = 0.0;
  std::memcpy(&time, &turns.nodes, sizeof(time));
  return time;
}
ECHOFORM_HOST_DEVICE KeptTurns turns_kept_in(double time) {
  KeptTurns turns;
  std::memcpy(&turns.nodes, &time, sizeof(time));
  return turns;
}
ECHOFORM_HOST_DEVICE double kept_as_time(const Turn& turn) {
  std::uint32_t start = 0;
  std::memcpy(&start, &turn.start, sizeof(start));
  return kept_as_time(KeptTurns{std::uint64_t{start} << 32 | turn.node});
}
ECHOFORM_HOST_DEVICE Turn turn_kept_in(double time) {
  const std::uint64_t bits = turns_kept_in(time).nodes;
  const auto start = static_cast<std::uint32_t>(bits >> 32);
  Turn turn{static_cast<std::uint32_t>(bits), 0.0F};
  std::memcpy(&turn.start, &start, sizeof(start));
  return turn;
}

}  // namespace echoform::beamform
