#include "cpu/thread_team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace echoform {
namespace {

std::vector<int> processor_list() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> list;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) list.push_back(i);
    }
  }
  return list;
}

}  // namespace

std::size_t usable_processors() {
  return std::max<std::size_t>(1, processor_list().size());
}

ThreadTeam::ThreadTeam(std::size_t threads, const std::string& name, bool pin) {
  if (threads == 0) threads = usable_processors();
  const std::vector<int> processors = processor_list();
  for (std::size_t member = 1; member < threads; ++member) {
    threads_.emplace_back([this, member] { run_member(member); });
    const pthread_t handle = threads_.back().native_handle();
    // The kernel keeps 15 characters of a thread's name.
    pthread_setname_np(handle, (name + "/" + std::to_string(member)).substr(0, 15).c_str());
    if (pin && !processors.empty()) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(processors[member % processors.size()], &set);
      pthread_setaffinity_np(handle, sizeof(set), &set);
    }
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadTeam::for_each(std::size_t count, std::size_t grain, Body body) noexcept {
  if (count == 0) return;
  body_ = &body;
  count_ = count;
  grain_ = std::max<std::size_t>(1, grain);
  next_.store(0, std::memory_order_relaxed);
  if (threads_.empty() || count <= grain_) {
    take_pieces(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ++round_;
    busy_ = threads_.size();
  }
  start_.notify_all();
  take_pieces(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadTeam::run_member(std::size_t member) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    take_pieces(member);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadTeam::take_pieces(std::size_t member) noexcept {
  for (;;) {
    if (beside_ && next_.load(std::memory_order_relaxed) < count_) work_beside();
    const std::size_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
    if (first >= count_) return;
    (*body_)(first, std::min(count_, first + grain_), member);
  }
}

void ThreadTeam::work_beside() noexcept {
  if (beside_taken_.test_and_set(std::memory_order_acquire)) return;
  beside_();
  beside_taken_.clear(std::memory_order_release);
}

}  // namespace echoform
