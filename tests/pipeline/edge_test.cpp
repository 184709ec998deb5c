#include "pipeline/edge.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace echoform {
namespace {

TEST(Edge, HoldsExactlyItsCapacityInOrderForAnyNumberOfRounds) {
  for (const std::size_t capacity : {1, 2, 31, 32, 33, 64, 65, 100}) {
    Edge<int, DropPolicy::block_sender> edge(capacity);
    int next = 0, expected = 0;
    for (int round = 0; round < 200; ++round) {
      while (edge.size() < capacity) ASSERT_EQ(edge.offer(next++).outcome, Offered::kept) << capacity;
      ASSERT_EQ(edge.offer(-1).outcome, Offered::refused) << capacity;
      // A different number each round, so that blocks of the queue are crossed at every place.
      for (std::size_t k = 0; k <= static_cast<std::size_t>(round) % capacity; ++k) ASSERT_EQ(edge.try_take(), expected++);
    }
  }
}

TEST(Edge, DropOldestEvictsTheOldest) {
  Edge<int, DropPolicy::drop_oldest> edge(2);
  EXPECT_EQ(edge.offer(1).outcome, Offered::kept);
  EXPECT_EQ(edge.offer(2).outcome, Offered::kept);
  const auto verdict = edge.offer(3);
  EXPECT_EQ(verdict.outcome, Offered::evicted);
  EXPECT_EQ(verdict.evicted, 1);
  EXPECT_EQ(edge.reclaim_oldest(), 2);
  EXPECT_EQ(edge.try_take(), 3);
  EXPECT_EQ(edge.try_take(), std::nullopt);
  EXPECT_EQ(edge.size(), 0U);
}

TEST(Edge, DropNewestRefusesTheNewest) {
  Edge<int, DropPolicy::drop_newest> edge(1);
  EXPECT_TRUE(edge.offer(1).on_edge());
  EXPECT_FALSE(edge.offer(2).on_edge());
  EXPECT_EQ(edge.try_take(), 1);
}

TEST(Edge, AStopRequestEndsTheWait) {
  Edge<int, DropPolicy::block_sender> edge(1);
  std::optional<int> taken = 7;
  std::jthread consumer([&](const std::stop_token& stop) { taken = edge.take(stop); });
  consumer.request_stop();
  consumer.join();
  EXPECT_EQ(taken, std::nullopt);
}

TEST(Edge, DiesOnlyAfterItsConsumersHaveLeft) {
  auto edge = std::make_unique<Edge<int, DropPolicy::block_sender>>(1);
  std::atomic<bool> waiting{false};
  std::optional<int> taken = 7;
  // The wait is longer than the test may last: only the destructor ends the slices of take().
  std::jthread consumer([&, raw = edge.get()] {
    waiting = true;
    waiting.notify_all();
    taken = raw->take_for(std::chrono::milliseconds(50));
  });
  waiting.wait(false);
  static_cast<void>(edge->offer(3));
  consumer.join();
  edge.reset();
  EXPECT_EQ(taken, 3);
}

TEST(Edge, DropOldestLosesNothingBetweenProducerAndConsumers) {
  constexpr int count = 50'000;
  Edge<int, DropPolicy::drop_oldest> edge(4);
  std::vector<int> evicted;
  std::vector<std::vector<int>> taken(2);
  {
    std::vector<std::jthread> consumers;
    for (auto& mine : taken) {
      consumers.emplace_back([&edge, &mine](const std::stop_token& stop) {
        while (const auto item = edge.take(stop)) mine.push_back(*item);
      });
    }
    for (int i = 0; i < count; ++i) {
      // Refused where a consumer was interrupted in the middle of taking an item, and for long: then the item is still ours.
      for (bool offered = false; !offered;) {
        const auto verdict = edge.offer(i);
        if (verdict.evicted) evicted.push_back(*verdict.evicted);
        offered = verdict.on_edge();
      }
    }
  }
  while (const auto item = edge.try_take()) evicted.push_back(*item);
  std::vector<int> seen(count, 0);
  for (const auto* list : {&evicted, &taken[0], &taken[1]}) {
    EXPECT_TRUE(std::is_sorted(list->begin(), list->end()));
    for (const int item : *list) ++seen[static_cast<std::size_t>(item)];
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(Edge, BlockSenderDeliversEverythingInOrder) {
  constexpr int count = 50'000;
  Edge<int, DropPolicy::block_sender> edge(8);
  int next = 0;
  bool ordered = true;
  std::jthread consumer([&](const std::stop_token& stop) {
    while (next < count) {
      const auto item = edge.take(stop);
      if (!item) return;
      ordered = ordered && *item == next++;
    }
  });
  for (int i = 0; i < count; ++i) {
    while (!edge.offer(i).on_edge()) std::this_thread::yield();
  }
  consumer.join();
  EXPECT_TRUE(ordered);
  EXPECT_EQ(next, count);
}

}  // namespace
}  // namespace echoform
