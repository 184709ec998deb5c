// Device and pinned memory. For *_cuda.cpp files; others ask a Backend. Nothing here is for the time while frames run.
#pragma once

#include <cstddef>

#include "gpu/stream.hpp"
#include "pipeline/backend.hpp"

namespace echoform::gpu {

/// Zeroed memory of the current device. Throws RuntimeFault, which states the requested and the free memory, if it is not
/// available.
[[nodiscard]] Buffer allocate_device(std::size_t bytes);

enum class Pinned : unsigned char {
  readable,        ///< the host reads and writes it
  write_combined,  ///< the host only writes it, in order; plain pinned memory where that is refused, logged once a process
};
/// Zeroed memory of the host that the device reaches without a copy. Throws RuntimeFault as above.
[[nodiscard]] Buffer allocate_pinned(std::size_t bytes, Pinned kind);

}  // namespace echoform::gpu
