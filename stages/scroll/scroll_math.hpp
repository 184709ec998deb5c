// Places of rows in a ring.
#pragma once

#include <cstddef>

#include "gpu/host_device.hpp"

namespace echoform {

/// The place in a ring of `kept` rows of the image's row `row`, 0 the oldest, once `count` rows more have been written from place
/// `head` on; `head`, `row` < kept, count <= kept.
ECHOFORM_HOST_DEVICE std::size_t ring_place(std::size_t head, std::size_t count, std::size_t row, std::size_t kept) {
  return (head + count + row) % kept;
}

}  // namespace echoform
