#include "base/heap.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace echoform {

void give_back_free_memory([[maybe_unused]] std::size_t at_least) noexcept {
#if defined(__GLIBC__)
  if (::mallinfo2().fordblks >= at_least) ::malloc_trim(0);
#endif
}

}  // namespace echoform
