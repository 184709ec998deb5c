// A fixed team of threads that share loops: the CPU backend's execution queue.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "pipeline/backend.hpp"

namespace echoform {

/// The caller is a member: a team of one has no threads of its own. Loops do not nest, and only one thread may call at a time.
class ThreadTeam final : public ExecutionQueue {
 public:
  /// `threads` members, at least 1; 0 means as many as this process may run on. Members are named `name`/1 ...
  /// With `pin`, member k >= 1 runs on the k-th processor that the process may use; the calling thread is left alone.
  explicit ThreadTeam(std::size_t threads, const std::string& name = "echoform-cpu", bool pin = false);
  ~ThreadTeam() override;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return threads_.size() + 1; }

  /// Calls body(first, last, member) for pieces of [0, count) of at most `grain` items, each item once, spread over the
  /// members (0 <= member < size()); returns when all are done. Never allocates. `body` must not throw.
  using Body = FunctionRef<void(std::size_t first, std::size_t last, std::size_t member)>;
  void for_each(std::size_t count, std::size_t grain, Body body) noexcept;

  /// Sets work that members do between two pieces of a loop, one member at a time. It is meant for short, urgent work such
  /// as reading. A separate thread would take a processor from a member in the middle of a piece, and all others would wait
  /// for that member. `work` must not throw; an empty function means no work. Must not be called while for_each runs.
  void set_beside(std::function<void()> work) { beside_ = std::move(work); }

  /// All work is done when for_each returns.
  void finish() override {}

 private:
  void run_member(std::size_t member);
  void take_pieces(std::size_t member) noexcept;
  void work_beside() noexcept;

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::uint64_t round_ = 0;     // guarded by mutex_
  std::size_t busy_ = 0;        // guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
  const Body* body_ = nullptr;  // set before a round starts
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_{0};
  std::function<void()> beside_;
  std::atomic_flag beside_taken_;  // some member is doing that work
};

/// Number of processors that this process may run on (its affinity mask), at least 1.
[[nodiscard]] std::size_t usable_processors();

}  // namespace echoform
