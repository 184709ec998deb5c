// Tells the host what the GPU has finished, in order, and ends the process when the GPU no longer answers. Free of CUDA's
// headers: an event is passed as the pointer that cudaEvent_t is.
//
//   const auto completion = make_completion_thread(device, choice.gpu_timeout, 4 * slots);   // at set-up
//   ECHOFORM_CUDA_QUEUED(cudaEventRecord(uploaded, copies));
//   completion->watch(uploaded, "upload");                                      // named if it is where the GPU stands still
//   ...
//   ECHOFORM_CUDA_QUEUED(cudaEventRecord(downloaded, stream));
//   completion->watch(downloaded, "download", [](void* frame) noexcept { ... }, &frame);
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace echoform::gpu {

/// Queries events. Tests replace CUDA's implementation by their own.
class EventQuery {
 public:
  virtual ~EventQuery() = default;
  /// Called on the thread that will query, before the first query.
  virtual void begin() noexcept {}
  /// Whether `event` is reached. Ends the process (end_process) on any answer but yes or not yet, naming `stage`.
  [[nodiscard]] virtual bool reached(void* event, const char* stage) noexcept = 0;
};

class CompletionThread {
 public:
  using Call = void (*)(void* context) noexcept;

  /// `timeout`: the longest that the oldest outstanding event may take from the moment when it became the oldest.
  /// `capacity` (at least 1): events outstanding at once, at most.
  CompletionThread(std::unique_ptr<EventQuery> query, std::chrono::nanoseconds timeout, std::size_t capacity);
  /// Does the same as finish(), then ends the thread.
  ~CompletionThread();
  CompletionThread(const CompletionThread&) = delete;
  CompletionThread& operator=(const CompletionThread&) = delete;

  /// Calls `call(context)` (none if null) from the thread of this object once `event` is reached and all calls before are done:
  /// in order of submission, never two at once. The event must be recorded before, and not again before it is reached.
  /// `stage` is a literal, for the line of the watchdog: what the GPU is doing until this event. Never allocates; waits only
  /// while `capacity` events are outstanding, so not to be called from a `call` when that may be. One caller at a time.
  void watch(void* event, const char* stage, Call call = nullptr, void* context = nullptr) noexcept;

  /// Waits until every event is reached and every call done. Not from a `call`.
  void finish() noexcept;

 private:
  struct Entry {
    void* event = nullptr;
    const char* stage = nullptr;
    Call call = nullptr;
    void* context = nullptr;
  };

  void run() noexcept;
  void wait_for(const Entry& entry) noexcept;

  const std::unique_ptr<EventQuery> query_;
  const std::chrono::nanoseconds timeout_;
  std::vector<Entry> ring_;
  // Counts, modulo 2^32: entry k stands in ring_[k % ring_.size()], whose size is a power of two.
  std::atomic<std::uint32_t> watched_{0};
  std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

/// Makes a thread for events of CUDA device `device`. It exists only in a build with CUDA code.
[[nodiscard]] std::unique_ptr<CompletionThread> make_completion_thread(int device, std::chrono::nanoseconds timeout,
                                                                       std::size_t capacity);

}  // namespace echoform::gpu
