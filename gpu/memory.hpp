// Device and pinned memory. For *_cuda.cpp files; others ask a Backend. Nothing here is for the time while frames run.
#pragma once

#include <cstddef>

#include "gpu/stream.hpp"
#include "pipeline/backend.hpp"

namespace echoform::gpu {

/// Zeroed memory of the current device. RuntimeFault saying what was wanted and what is free, if it is not to be had.
[[nodiscard]] Buffer allocate_device(std::size_t bytes);

enum class Pinned : unsigned char {
  readable,        ///< the host reads and writes it
  write_combined,  ///< the host only writes it, in order; plain pinned memory where that is refused, logged once a process
};
/// Zeroed memory of the host that the device reaches without a copy. RuntimeFault as above.
[[nodiscard]] Buffer allocate_pinned(std::size_t bytes, Pinned kind);

}  // namespace echoform::gpu
