// A typed, bounded edge between workers. What happens to an item when the edge is full is part of its type.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "pipeline/frame_slot.hpp"

namespace echoform {

enum class Offered : std::uint8_t {
  kept,     ///< the item is on the edge
  evicted,  ///< the item is on the edge, and the oldest one had to go
  refused,  ///< the edge is full. Block the sender: keep the item and offer it again. Drop newest: the item is dropped
};

template <class T>
struct [[nodiscard]] OfferVerdict {
  Offered outcome = Offered::kept;
  std::optional<T> evicted;  ///< what had to go, for the producer to count and recycle

  [[nodiscard]] bool on_edge() const { return outcome != Offered::refused; }
};

/// First in, first out. One producer (several threads may take turns if a lock of theirs orders them), any number of
/// consumers. Never allocates after construction. T is cheap to move and does not throw when moved.
template <class T, DropPolicy Policy>
class Edge {
 public:
  static constexpr DropPolicy policy = Policy;

  /// `capacity` items, at least 1.
  explicit Edge(std::size_t capacity)
      : capacity_(std::max<std::size_t>(1, capacity)),
        // Some blocks more than the items need: consumers count an item out a moment after they take it, and free blocks late.
        queue_(capacity_ + spare_blocks * Queue::BLOCK_SIZE, 1, 0),
        token_(queue_) {}

  /// Releases consumers that still wait, and waits until they have left: the queue must outlive them.
  ~Edge() {
    closed_.store(true);
    while (consumers_.load() != 0) std::this_thread::yield();
  }
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Items on the edge; exact only while nobody offers or takes.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  /// Producer only. Waits for no other thread, except a consumer that was interrupted while it takes an item.
  OfferVerdict<T> offer(T item) {
    OfferVerdict<T> verdict;
    if (size_.load(std::memory_order_acquire) >= capacity_) {
      if constexpr (Policy == DropPolicy::drop_oldest) {
        // If nothing is left to evict, consumers have taken everything and are about to count it out: there is a free place.
        verdict.evicted = try_take();
        if (verdict.evicted) verdict.outcome = Offered::evicted;
      } else {
        verdict.outcome = Offered::refused;
        return verdict;
      }
    }
    size_.fetch_add(1, std::memory_order_acq_rel);
    // The queue frees a block of places when the last item of it has been taken. A consumer that was interrupted between
    // claiming an item and taking it keeps a block while the others continue. Then this thread can only let it run.
    // A failed try_enqueue leaves the item as it was.
    for (int turn = 0; !queue_.try_enqueue(token_, std::move(item)); ++turn) {
      if (turn == patience) {
        size_.fetch_sub(1, std::memory_order_acq_rel);
        verdict.outcome = Offered::refused;
        break;
      }
      std::this_thread::yield();
    }
    return verdict;
  }

  /// Producer only, drop oldest only: takes the oldest item back before the edge is full, for what the item holds.
  [[nodiscard]] std::optional<T> reclaim_oldest() requires(Policy == DropPolicy::drop_oldest) { return try_take(); }

  [[nodiscard]] std::optional<T> try_take() {
    std::optional<T> item;
    T value{};
    if (queue_.try_dequeue(value)) {
      size_.fetch_sub(1, std::memory_order_acq_rel);
      item.emplace(std::move(value));
    }
    return item;
  }

  /// Waits for an item until `stop` is requested or the edge is destroyed; then returns nothing, although items may be left.
  [[nodiscard]] std::optional<T> take(const std::stop_token& stop) {
    for (;;) {
      if (stop.stop_requested() || closed_.load(std::memory_order_relaxed)) return std::nullopt;
      if (auto item = take_for(wait_slice)) return item;
    }
  }

  /// Waits for an item for at most `limit`.
  [[nodiscard]] std::optional<T> take_for(std::chrono::microseconds limit) {
    const Visit visit(consumers_);
    std::optional<T> item;
    T value{};
    if (!closed_.load() && queue_.wait_dequeue_timed(value, limit)) {
      size_.fetch_sub(1, std::memory_order_acq_rel);
      item.emplace(std::move(value));
    }
    return item;
  }

 private:
  using Queue = moodycamel::BlockingConcurrentQueue<T>;
  static constexpr std::size_t spare_blocks = 8;
  static constexpr int patience = 10'000;  // calls of yield(): tens of milliseconds where the processors are busy
  // How late a waiting consumer may notice a stop request.
  static constexpr std::chrono::microseconds wait_slice{10'000};

  class Visit {
   public:
    explicit Visit(std::atomic<int>& count) : count_(count) { ++count_; }
    ~Visit() { --count_; }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    std::atomic<int>& count_;
  };

  const std::size_t capacity_;
  Queue queue_;
  moodycamel::ProducerToken token_;
  std::atomic<std::size_t> size_{0};
  std::atomic<int> consumers_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace echoform
