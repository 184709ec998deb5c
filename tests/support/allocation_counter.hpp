// Counts every allocation of this program, on all its threads.
#pragma once

#include <cstdint>

namespace echoform::test {

/// Whether allocations can be counted here: not under sanitizers, which bring an allocator of their own.
[[nodiscard]] bool counts_allocations();
[[nodiscard]] std::uint64_t allocations();

}  // namespace echoform::test
