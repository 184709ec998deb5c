#include "tests/support/allocation_counter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ECHOFORM_COUNTS_ALLOCATIONS 1
#else
#define ECHOFORM_COUNTS_ALLOCATIONS 0
#endif

namespace {
std::atomic<std::uint64_t> counted{0};
}

namespace echoform::test {
bool counts_allocations() {
  return ECHOFORM_COUNTS_ALLOCATIONS != 0;
}
std::uint64_t allocations() {
  return counted.load();
}
}  // namespace echoform::test

#if ECHOFORM_COUNTS_ALLOCATIONS
// operator new, FFTW and the C library all end here.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++counted;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++counted;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++counted;
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++counted;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++counted;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++counted;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif
