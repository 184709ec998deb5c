// Memory that was freed and that the heap keeps for itself.
#pragma once

#include <cstddef>

namespace echoform {

/// Gives what the heap keeps free back to the system, if that is `at_least` bytes. glibc gives back only what lies at the heap's
/// end, so one block that stays holds up all that was freed below it. Whoever takes or frees memory meanwhile waits, about a
/// millisecond for each 10 MB: not for the thread of a frame. Does nothing where the C library has no such call.
void give_back_free_memory(std::size_t at_least) noexcept;

}  // namespace echoform
