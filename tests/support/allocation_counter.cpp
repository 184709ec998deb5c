#include "tests/support/allocation_counter.hpp"

#include <link.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/sanitizers.hpp"

#if defined(__GLIBC__) && !ECHOFORM_ADDRESS_SANITIZER && !ECHOFORM_THREAD_SANITIZER
#define ECHOFORM_COUNTS_ALLOCATIONS 1
#else
#define ECHOFORM_COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<std::uint64_t> counted{0};
std::atomic<std::uint64_t> counted_of_driver{0};

/// Where one of the driver's libraries is mapped.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
// Only ever appended to: whoever allocates meanwhile sees a part of it.
std::array<Range, 64> ranges;
std::atomic<std::size_t> range_count{0};

bool is_driver(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const std::string_view name = slash == nullptr ? path : slash + 1;
  return name.starts_with("libcuda.so") || name.starts_with("libcudadebugger") || name.starts_with("libnvidia-");
}

int note_library(dl_phdr_info* library, std::size_t /*size*/, void* /*context*/) {
  if (library->dlpi_name == nullptr || !is_driver(library->dlpi_name)) return 0;
  for (int k = 0; k < library->dlpi_phnum; ++k) {
    const auto& segment = library->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const Range range{library->dlpi_addr + segment.p_vaddr, library->dlpi_addr + segment.p_vaddr + segment.p_memsz};
    const std::size_t count = range_count.load();
    bool known = count == ranges.size();
    for (std::size_t i = 0; i < count; ++i) known = known || (ranges[i].begin == range.begin && ranges[i].end == range.end);
    if (known) continue;
    ranges[count] = range;
    range_count.store(count + 1, std::memory_order_release);
  }
  return 0;
}

void note_libraries() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  dl_iterate_phdr(note_library, nullptr);
}

#if ECHOFORM_COUNTS_ALLOCATIONS
bool by_driver(const void* caller) {
  const std::size_t count = range_count.load(std::memory_order_acquire);
  if (count == 0) return false;
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < count; ++i) {
    if (place >= ranges[i].begin && place < ranges[i].end) return true;
  }
  char name[16] = {};
  return prctl(PR_GET_NAME, name, 0UL, 0UL, 0UL) == 0 && std::string_view(name).starts_with("cuda");
}

void count(const void* caller) {
  // The allocator's callers rely on errno.
  const int error = errno;
  ++(by_driver(caller) ? counted_of_driver : counted);
  errno = error;
}
#endif

}  // namespace

namespace echoform::test {
bool counts_allocations() {
  return ECHOFORM_COUNTS_ALLOCATIONS != 0;
}
std::uint64_t allocations() {
  note_libraries();
  return counted.load();
}
std::uint64_t driver_allocations() {
  note_libraries();
  return counted_of_driver.load();
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
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(items, size);
}
void* realloc(void* memory, std::size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif
