// The first result of the search for a ray over the nodes of a curve, before the time of the ray is known. Shared by host
// and device.
#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/host_device.hpp"

namespace echoform::beamform {

struct Turn {
  static constexpr std::uint32_t several = 1U << 31;  ///< flag in `node`: there is another change of sign

  std::uint32_t node;  ///< the node after the slope's change of sign, below 2^31; 0: none
  float start;         ///< where the slope is 0 between the two nodes, 0 .. 1
};

/// All changes of sign of the slope for one ray, or the mark that they are too many to keep.
struct KeptTurns {
  static constexpr std::uint64_t too_many = ~std::uint64_t{0};

  std::uint64_t nodes = 0;  ///< nodes after the changes of sign, 16 bits each, below 2^16 - 1; 0 where there are no more

  ECHOFORM_HOST_DEVICE void add(std::uint32_t node) { nodes = nodes >> 48 != 0 ? too_many : nodes << 16 | node; }
  /// Removes and returns the node that was added last; 0: none is left.
  [[nodiscard]] ECHOFORM_HOST_DEVICE std::uint32_t take() {
    const auto node = static_cast<std::uint32_t>(nodes & 0xffffU);
    nodes >>= 16;
    return node;
  }
};

/// Keeps the bits of one Turn, or of KeptTurns, in the place of the ray's time, and reads them back. That place is read and
/// written only as a double.
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
