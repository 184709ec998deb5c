#include "benchmarks/frame_ring.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "base/errors.hpp"

namespace echoform::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

/// The free slots, and the times at which frames were finished. Engines report them from threads of their own.
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
  /// Time at which each frame since watch() was finished; valid after drain().
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

/// Stage timings of several frames.
class StageTimes {
 public:
  void add(const FrameSlot& slot) {
    stages_.resize(std::max(stages_.size(), slot.timings.size()));
    for (std::size_t k = 0; k < slot.timings.size(); ++k) {
      stages_[k].name = slot.timings[k].stage;
      stages_[k].seconds.push_back(std::chrono::duration<double>(slot.timings[k].duration).count());
    }
  }
  [[nodiscard]] std::vector<StageFigure> figures() const {
    std::vector<StageFigure> figures;
    for (const auto& [name, seconds] : stages_) figures.push_back({name, spread_of(seconds)});
    return figures;
  }

 private:
  struct Times {
    std::string name;
    std::vector<double> seconds;
  };
  std::vector<Times> stages_;
};

/// Images one frame with nothing else in flight; returns the seconds until it is finished.
double image_alone(Engine& engine, Ring& ring, StageTimes& times) {
  FrameSlot& slot = ring.lease();
  const auto begin = Clock::now();
  engine.submit(slot, ring.done());
  ring.drain();
  const double seconds = seconds_between(begin, Clock::now());
  times.add(slot);
  return seconds;
}

}  // namespace

struct FrameRing::Implementation {
  Implementation(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice, std::size_t slots)
      : engine(make_engine(setup, choice, {.slots = slots})), ring(*engine, slots) {
    const std::vector<std::byte> noise = noise_frame(setup->acquisition);
    for (FrameSlot& slot : ring.slots()) std::memcpy(slot.samples.data(), noise.data(), noise.size());
  }

  std::unique_ptr<Engine> engine;
  Ring ring;
  StageTimes times;
};

FrameRing::FrameRing(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice, std::size_t slots)
    : implementation_(std::make_unique<Implementation>(setup, choice, slots)) {}
FrameRing::~FrameRing() = default;

double FrameRing::images_per_second(std::size_t frames) {
  Ring& ring = implementation_->ring;
  const std::size_t filling = ring.slots().size();
  ring.watch(filling + frames);
  for (std::size_t frame = 0; frame < filling + frames; ++frame) implementation_->engine->submit(ring.lease(), ring.done());
  ring.drain();
  return static_cast<double>(frames) / seconds_between(ring.times()[filling - 1], ring.times()[filling + frames - 1]);
}

double FrameRing::alone() {
  return image_alone(*implementation_->engine, implementation_->ring, implementation_->times);
}

std::vector<StageFigure> FrameRing::stages() const {
  return implementation_->times.figures();
}

std::size_t FrameRing::engine_bytes() const {
  return implementation_->engine->bytes();
}

RingReport measure_ring(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice, std::size_t frames,
                        const std::vector<Turn>& against) {
  if (frames < 10) throw InputError("frames", std::to_string(frames), "at least 10");
  FrameRing ring(setup, choice);
  RingReport report;
  report.engine_bytes = ring.engine_bytes();
  constexpr std::size_t windows = 10;
  std::vector<Turn> turns = against;
  turns.push_back({"images", [&] { return ring.images_per_second(frames / windows); }});
  static_cast<void>(take_turns(1, turns));
  report.turns = take_turns(windows, turns);
  report.images_per_second = report.turns.spread("images");
  report.alone_seconds = take_turns(20, {{"alone", [&] { return ring.alone(); }}}).spread("alone");
  report.stages = ring.stages();
  return report;
}

std::vector<StageFigure> eager_stages(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice,
                                      std::size_t frames) {
  const auto engine = make_engine(setup, choice, {.eager = true});
  Ring ring(*engine, 1);
  const std::vector<std::byte> noise = noise_frame(setup->acquisition);
  std::memcpy(ring.slots().front().samples.data(), noise.data(), noise.size());
  StageTimes ignored;
  for (std::size_t frame = 0; frame < 3; ++frame) static_cast<void>(image_alone(*engine, ring, ignored));
  StageTimes times;
  for (std::size_t frame = 0; frame < frames; ++frame) static_cast<void>(image_alone(*engine, ring, times));
  return times.figures();
}

}  // namespace echoform::benchmarks
