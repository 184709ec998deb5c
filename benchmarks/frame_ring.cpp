#include "benchmarks/frame_ring.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "pipeline/errors.hpp"

namespace echoform::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

/// Slots that are free, and when frames were done. Engines say so from threads of their own.
class Ring {
 public:
  Ring(Engine& engine, std::size_t slots) : slots_(slots) {
    for (FrameSlot& slot : slots_) {
      slot.index = static_cast<std::size_t>(&slot - slots_.data());
      engine.equip(slot);
      free_.push_back(&slot);
    }
    done_ = [this](FrameSlot& slot, bool ok) {
      const std::lock_guard lock(mutex_);
      failed_ = failed_ || !ok;
      if (times_.size() < times_.capacity()) times_.push_back(Clock::now());
      free_.push_back(&slot);
      changed_.notify_all();
    };
  }
  [[nodiscard]] std::vector<FrameSlot>& slots() { return slots_; }
  [[nodiscard]] const Engine::Done& done() const { return done_; }

  FrameSlot& lease() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !free_.empty(); });
    FrameSlot& slot = *free_.front();
    free_.erase(free_.begin());
    return slot;
  }
  /// Waits until no frame is in flight.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_.size() == slots_.size(); });
    if (failed_) throw RuntimeFault("the engine could not image a frame");
  }
  void watch(std::size_t frames) {
    const std::lock_guard lock(mutex_);
    times_.clear();
    times_.reserve(frames);
  }
  /// When each frame since watch() was done; after drain().
  [[nodiscard]] const std::vector<Clock::time_point>& times() const { return times_; }

 private:
  std::vector<FrameSlot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FrameSlot*> free_;
  std::vector<Clock::time_point> times_;
  bool failed_ = false;
  Engine::Done done_;
};

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

RingReport measure_ring(const std::shared_ptr<const ImagingPlan>& plan, const BackendChoice& choice, std::size_t frames,
                        std::size_t slots) {
  if (frames < 10) throw InputError("frames", std::to_string(frames), "at least 10");
  const auto engine = make_engine(plan, choice, {});
  Ring ring(*engine, slots);
  const std::vector<std::byte> noise = noise_frame(plan->acquisition);
  for (FrameSlot& slot : ring.slots()) std::memcpy(slot.samples.data(), noise.data(), noise.size());

  RingReport report;
  report.frame_bytes = noise.size();
  report.engine_bytes = engine->bytes();
  for (std::size_t frame = 0; frame < std::max<std::size_t>(slots, frames / 4); ++frame)
    engine->submit(ring.lease(), ring.done());
  ring.watch(frames);
  for (std::size_t frame = 0; frame < frames; ++frame) engine->submit(ring.lease(), ring.done());
  ring.drain();
  const std::size_t window = frames / 10;
  std::vector<double> rates;
  for (std::size_t end = window; end < frames; end += window) {
    rates.push_back(static_cast<double>(window) / seconds_between(ring.times()[end - window], ring.times()[end]));
  }
  report.images_per_second = spread_of(std::move(rates));

  const std::size_t alone = std::min<std::size_t>(frames, 20);
  std::vector<double> seconds;
  std::vector<std::vector<double>> stages(stage_timing_capacity);
  std::vector<std::string> names(stage_timing_capacity);
  for (std::size_t frame = 0; frame < alone; ++frame) {
    FrameSlot& slot = ring.lease();
    const auto begin = Clock::now();
    engine->submit(slot, ring.done());
    ring.drain();
    seconds.push_back(seconds_between(begin, Clock::now()));
    for (std::size_t k = 0; k < slot.timing_count; ++k) {
      names[k] = slot.timings[k].stage;
      stages[k].push_back(std::chrono::duration<double>(slot.timings[k].duration).count());
    }
  }
  report.alone_seconds = spread_of(std::move(seconds));
  for (std::size_t k = 0; k < stages.size() && !stages[k].empty(); ++k) report.stages.push_back({names[k], spread_of(stages[k])});
  return report;
}

}  // namespace echoform::benchmarks
