// The order in which a block of the CUDA beamformer goes through the pairs of its tile; for host and device, so that tests can
// follow it without a GPU.
#pragma once

#include <cstdint>

#include "gpu/host_device.hpp"

namespace echoform::beamform {

/// A pair of groups of sources that are processed together: group i of the transmit side with group j of the receive side.
struct Group {
  std::uint32_t i;
  std::uint32_t j;
};

/// The group of receivers changes fastest, so that delays of transmitters are kept from one pair of groups to the next.
/// `groups` is the number of groups of the receive side. With `once` only pairs with i <= j occur.
ECHOFORM_HOST_DEVICE Group group_at(std::uint32_t index, std::uint32_t groups, bool once) {
  Group group{0, index};
  if (!once) return {index / groups, index % groups};
  while (group.j >= groups - group.i) {
    group.j -= groups - group.i;
    ++group.i;
  }
  group.j += group.i;
  return group;
}
ECHOFORM_HOST_DEVICE Group next_group(Group group, std::uint32_t groups, bool once) {
  if (++group.j == groups) {
    ++group.i;
    group.j = once ? group.i : 0;
  }
  return group;
}

/// The group of plane waves changes fastest, so that delays of receivers, which are expensive, are kept: each is computed
/// once a pixel. `groups` is the number of groups of the transmit side.
ECHOFORM_HOST_DEVICE Group plane_group_at(std::uint32_t index, std::uint32_t groups) {
  return {index % groups, index / groups};
}
ECHOFORM_HOST_DEVICE Group next_plane_group(Group group, std::uint32_t groups) {
  if (++group.i == groups) {
    ++group.j;
    group.i = 0;
  }
  return group;
}

}  // namespace echoform::beamform
