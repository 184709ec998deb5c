#include "gpu/completion.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/fault.hpp"

namespace echoform::gpu {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A query takes a lock of the driver that threads which queue work need too. So the thread queries without a pause only in the
// first moment, when the event of an idle GPU is about to be reached.
constexpr auto spin_time = 10us;
constexpr auto nap = 20us;

}  // namespace

CompletionThread::CompletionThread(std::unique_ptr<EventQuery> query, std::chrono::nanoseconds timeout, std::size_t capacity)
    : query_(std::move(query)), timeout_(timeout), ring_(std::bit_ceil(std::max<std::size_t>(capacity, 1))) {
  thread_ = std::thread([this] { run(); });
}

CompletionThread::~CompletionThread() {
  finish();
  ending_.store(true, std::memory_order_release);
  // The thread sleeps on this count.
  watched_.fetch_add(1, std::memory_order_release);
  watched_.notify_one();
  thread_.join();
}

void CompletionThread::watch(void* event, const char* stage, Call call, void* context) noexcept {
  const std::uint32_t place = watched_.load(std::memory_order_relaxed);
  for (std::uint32_t done = done_.load(std::memory_order_acquire); place - done >= ring_.size();
       done = done_.load(std::memory_order_acquire)) {
    done_.wait(done, std::memory_order_acquire);
  }
  ring_[place % ring_.size()] = {event, stage, call, context};
  watched_.store(place + 1, std::memory_order_release);
  watched_.notify_one();
}

void CompletionThread::finish() noexcept {
  const std::uint32_t watched = watched_.load(std::memory_order_acquire);
  for (std::uint32_t done = done_.load(std::memory_order_acquire); done != watched;
       done = done_.load(std::memory_order_acquire)) {
    done_.wait(done, std::memory_order_acquire);
  }
}

void CompletionThread::run() noexcept {
  // Without this setting the kernel may extend each nap by 50 us.
  static_cast<void>(prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL));
  query_->begin();
  for (std::uint32_t place = 0;; ++place) {
    watched_.wait(place, std::memory_order_acquire);
    if (ending_.load(std::memory_order_acquire)) return;
    const Entry entry = ring_[place % ring_.size()];
    wait_for(entry);
    if (entry.call != nullptr) entry.call(entry.context);
    done_.store(place + 1, std::memory_order_release);
    done_.notify_all();
  }
}

void CompletionThread::wait_for(const Entry& entry) noexcept {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    // The time is taken before the query: a process that was stopped meanwhile queries once more before it gives up.
    const auto waited = Clock::now() - begin;
    if (query_->reached(entry.event, entry.stage)) return;
    if (waited > timeout_) {
      const double seconds = std::chrono::duration<double>(waited).count();
      char line[160];
      const auto end =
          fmt::format_to_n(line, sizeof(line), "no answer from the GPU for {:.1f} s (stage {})", seconds, entry.stage);
      end_process({line, std::min(end.size, sizeof(line))});
    }
    if (waited > spin_time) std::this_thread::sleep_for(nap);
  }
}

}  // namespace echoform::gpu
