// Counts what the calling thread allocates, and nobody else.
#pragma once

#include <cstddef>

/// Calls of operator new on this thread so far; 0 for ever under the thread sanitizer.
[[nodiscard]] std::size_t thread_allocations();
