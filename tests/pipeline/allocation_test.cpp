// Counts every allocation of this program while it is armed, by standing before the C library's allocator.
#include <dlfcn.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "pipeline/pipeline.hpp"
#include "tests/pipeline/support.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ECHOFORM_COUNTS_ALLOCATIONS 0  // sanitizers stand there themselves
#else
#define ECHOFORM_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<bool> armed{false};
std::atomic<std::size_t> allocations{0};
[[maybe_unused]] void note() {
  if (armed.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

#if ECHOFORM_COUNTS_ALLOCATIONS
// The C library's own names for its allocator.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  note();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  note();
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  note();
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  note();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  note();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t bytes) {
  note();
  *place = __libc_memalign(alignment, bytes);
  return *place == nullptr ? ENOMEM : 0;
}
}
#endif

namespace echoform::test {
namespace {

class Armed {
 public:
  Armed() {
    allocations = 0;
    armed = true;
  }
  ~Armed() { armed = false; }
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
};

TEST(Allocations, AreCounted) {
  if (!ECHOFORM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  const Armed armed_now;
  const auto number = std::make_unique<volatile int>(1);
  std::vector<int> numbers(1000);
  numbers.resize(2000 + static_cast<std::size_t>(*number));
  EXPECT_EQ(allocations, 3U);
}

// Every policy, two lanes, faults among the shots: none from a frame's first shot to its publication, on any thread.
TEST(Allocations, AreNoneInSteadyState) {
  if (!ECHOFORM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "built with a sanitizer that replaces the allocator";
  for (const DropPolicy policy : {DropPolicy::block_sender, DropPolicy::drop_oldest, DropPolicy::drop_newest}) {
    SystemClock clock;
    auto control = std::make_shared<EngineControl>();
    auto sink = std::make_shared<NotingSink>();
    PipelineOptions options;
    options.policy = policy;
    Pipeline pipeline(options, bare_plan, {sink}, clock, fake_engines(control));
    const Acquisition acquisition = small_acquisition(8, 64);
    const auto intake = pipeline.open_stream(1, acquisition);
    std::array<Bell, 2> bells;
    const std::array<LaneId, 2> lanes = {intake->open_lane(bells[0].wake()), intake->open_lane(bells[1].wake())};
    const auto send = [&](std::uint64_t sequence) {
      for (std::uint32_t tx = 0; tx < 8; ++tx) {
        if (sequence % 50 == 7 && tx == 3) continue;  // an incomplete frame
        const std::size_t k = tx % 2;
        while (send_shot(*intake, lanes[k], sequence, tx) == ShotVerdict::wait) {
          if (!bells[k].wait()) return false;
        }
        if (sequence % 50 == 9 && tx == 3) static_cast<void>(send_shot(*intake, lanes[k], sequence, tx));  // a duplicate
      }
      return true;
    };
    std::uint64_t sequence = 0;
    while (sequence < 200) ASSERT_TRUE(send(sequence++));  // warm
    bool sent = true;
    std::size_t awaited = sink->published().size();
    std::uint64_t received_before = 0, received_after = 0;
    {
      received_before = pipeline.counters().frames_received;
      const Armed armed_now;
      while (sequence < 2200) {
        sent = sent && send(sequence);
        // Keeps the sender from outrunning the engine by more than a few frames where nothing blocks it.
        if (sequence % 10 == 0) sent = sent && sink->wait_published(++awaited);
        sequence += sequence % 100 == 99 ? 2 : 1;  // and a gap
      }
      received_after = pipeline.counters().frames_received;
    }
    EXPECT_EQ(allocations, 0U) << "policy " << static_cast<int>(policy);
    EXPECT_TRUE(sent);
    EXPECT_GE(received_after - received_before, 1900U);
    pipeline.stop();
    EXPECT_TRUE(pipeline.counters().closes());
    EXPECT_GE(sink->sequences.size(), awaited);
    EXPECT_GE(awaited, 150U);
  }
}

}  // namespace
}  // namespace echoform::test
