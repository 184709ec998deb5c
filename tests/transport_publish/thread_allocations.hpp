// Counts what the calling thread allocates, and nobody else.
#pragma once

#include <cstddef>

/// Calls of operator new on this thread so far.
[[nodiscard]] std::size_t thread_allocations();
