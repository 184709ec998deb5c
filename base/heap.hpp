// Freed memory that the heap keeps.
#pragma once

#include <cstddef>

namespace echoform {

/// Returns the heap's free memory to the system, if that is `at_least` bytes. By itself glibc returns only memory at the
/// heap's end, so one block in use holds back all that was freed below it. Threads that allocate or free memory meanwhile
/// wait, about a millisecond for each 10 MB: do not call it on the thread of a frame. It does nothing if the C library has
/// no such function.
void give_back_free_memory(std::size_t at_least) noexcept;

}  // namespace echoform
