// The thread that says what the GPU has finished, with events of the test's own.
#include "gpu/completion.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "base/sanitizers.hpp"
#include "gpu/fault.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/end_late.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/sleeper.hpp"

namespace echoform::gpu {
namespace {

using namespace std::chrono_literals;

struct FakeEvent {
  std::atomic<bool> reached{false};
  std::atomic<int> asked{0};  ///< how often, each time counted after the answer is known
};

class FakeQuery final : public EventQuery {
 public:
  [[nodiscard]] bool reached(void* event, const char* /*stage*/) noexcept override {
    auto& asked = *static_cast<FakeEvent*>(event);
    const bool answer = asked.reached.load();
    ++asked.asked;
    return answer;
  }
};

std::unique_ptr<CompletionThread> completion_thread(std::size_t capacity, std::chrono::nanoseconds timeout = 60s) {
  return std::make_unique<CompletionThread>(std::make_unique<FakeQuery>(), timeout, capacity);
}

/// Waits until the thread has asked for the event from beginning to end, once more.
[[nodiscard]] bool asks_again(const FakeEvent& event) {
  const int before = event.asked;
  return eventually([&] { return event.asked >= before + 2; });
}

/// What was called, in order. Written by the completion thread alone, read after finish().
struct Calls {
  struct Item {
    Calls* calls;
    int number;
  };
  explicit Calls(int count) {
    order.reserve(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) items.push_back({this, k});
  }
  static void note(void* item) noexcept {
    const Item& noted = *static_cast<Item*>(item);
    noted.calls->order.push_back(noted.number);
    noted.calls->called.fetch_add(1);
  }
  std::vector<Item> items;
  std::vector<int> order;
  std::atomic<int> called{0};
};

TEST(CompletionThread, CallsInOrderOfSubmission) {
  std::array<FakeEvent, 3> events;
  Calls calls(3);
  const auto completion = completion_thread(4);
  for (std::size_t k = 0; k < 3; ++k) completion->watch(&events[k], "download", &Calls::note, &calls.items[k]);
  events[2].reached = true;
  events[1].reached = true;
  EXPECT_TRUE(asks_again(events[0]));
  EXPECT_EQ(calls.called.load(), 0) << "the first is not reached";
  events[0].reached = true;
  completion->finish();
  EXPECT_THAT(calls.order, testing::ElementsAre(0, 1, 2));
}

TEST(CompletionThread, FinishesBeforeItEnds) {
  FakeEvent event;
  Calls calls(1);
  test::Sleeper end([&] {
    const auto completion = completion_thread(2);
    completion->watch(&event, "upload");
    completion->watch(&event, "download", &Calls::note, calls.items.data());
  });
  EXPECT_TRUE(end.sleeps());
  EXPECT_EQ(calls.called.load(), 0);
  event.reached = true;
  EXPECT_TRUE(end.returns());
  EXPECT_EQ(calls.called.load(), 1);
}

TEST(CompletionThread, HasNothingToFinishWhereNothingWasSubmitted) {
  const auto completion = completion_thread(1);
  completion->finish();
}

TEST(CompletionThread, HoldsTheSubmitterBackWhileAllPlacesAreTaken) {
  std::array<FakeEvent, 3> events;
  const auto completion = completion_thread(2);
  completion->watch(&events[0], "a");
  completion->watch(&events[1], "b");
  test::Sleeper submitter([&] { completion->watch(&events[2], "c"); });
  EXPECT_TRUE(submitter.sleeps());
  events[0].reached = true;
  EXPECT_TRUE(submitter.returns());
  events[1].reached = true;
  events[2].reached = true;
  completion->finish();
}

TEST(CompletionThread, KeepsOrderOverManyEventsAndAllocatesNothing) {
  constexpr int count = 20'000;
  constexpr std::size_t ring = 8;
  std::vector<FakeEvent> events(count);
  Calls calls(count);
  const auto completion = completion_thread(ring);
  completion->finish();
  std::atomic<bool> go{false};
  std::thread gpu([&] {
    std::minstd_rand random(1);
    while (!go) std::this_thread::yield();
    for (FakeEvent& event : events) {
      if (random() % 64 == 0) std::this_thread::yield();
      event.reached = true;
    }
  });
  go = true;
  const std::uint64_t before = test::allocations();
  for (std::size_t k = 0; k < count; ++k) completion->watch(&events[k], "frame", &Calls::note, &calls.items[k]);
  completion->finish();
  const std::uint64_t after = test::allocations();
  gpu.join();
  ASSERT_EQ(calls.order.size(), static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) ASSERT_EQ(calls.order[static_cast<std::size_t>(k)], k);
  if (test::counts_allocations()) {
    EXPECT_EQ(after, before);
  }
}

TEST(CompletionThread, GivesEachEventTheWholeTime) {
  std::array<FakeEvent, 4> events;
  // Four times half of the time that one may take.
  const auto completion = completion_thread(4, 2s);
  for (FakeEvent& event : events) completion->watch(&event, "slow");
  for (FakeEvent& event : events) {
    std::this_thread::sleep_for(1s);  // what the GPU takes for it
    event.reached = true;
  }
  completion->finish();
}

class CompletionThreadDeath : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CompletionThreadDeath, EndsTheProcessWhenAnEventIsNotReached) {
  EXPECT_EXIT(
      {
        FakeEvent reached;
        reached.reached = true;
        FakeEvent never;
        const auto completion = completion_thread(4, 200ms);
        completion->watch(&reached, "upload");
        completion->watch(&never, "beamform");
        completion->finish();
      },
      testing::ExitedWithCode(1), "^echoform: GPU fault: no answer from the GPU for [0-9]+\\.[0-9] s \\(stage beamform\\)\n$");
}

TEST_F(CompletionThreadDeath, OneLineIsPrintedWhoeverElseFails) {
  EXPECT_EXIT(
      {
        std::vector<std::thread> threads;
        for (int k = 0; k < 8; ++k) threads.emplace_back([] { end_process("the device is lost"); });
        for (std::thread& thread : threads) thread.join();
      },
      testing::ExitedWithCode(1), "^echoform: GPU fault: the device is lost\n$");
}

/// Standard error is a pipe that is full, and another thread holds standard output.
void end_without_readers() {
  int ends[2] = {};
  if (pipe2(ends, O_NONBLOCK) != 0) _exit(4);
  const std::array<char, 4096> filling{};
  while (write(ends[1], filling.data(), filling.size()) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
  static std::atomic<bool> held{false};
  std::thread([] {
    flockfile(stdout);
    held = true;
    held.notify_all();
    pause();
  }).detach();
  held.wait(false);
  test::end_late();
  end_process("the device is lost");
}

TEST_F(CompletionThreadDeath, NobodyWhoDoesNotReadHoldsTheEndUp) {
#if ECHOFORM_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer's own end waits for standard output";
#endif
  EXPECT_EXIT(end_without_readers(), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace echoform::gpu
