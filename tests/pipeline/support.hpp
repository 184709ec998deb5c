// What the tests of the pipeline share: small acquisitions, shots with a known pattern, an engine that the test steps.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "base/errors.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/frame_intake.hpp"
#include "pipeline/image_sink.hpp"
#include "pipeline/pipeline.hpp"
#include "tests/support/patience.hpp"

namespace echoform::test {

inline Acquisition small_acquisition(std::size_t elements = 4, std::size_t samples = 8, MatrixKind matrix = MatrixKind::full,
                                     const std::set<std::size_t>& dead = {}) {
  using namespace literals;
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, 0.5_mm, 0.4_mm, 5.0_MHz, 2.5_MHz);
  for (const std::size_t element : dead) acquisition.probe.elements[element].dead = true;
  acquisition.matrix = matrix;
  acquisition.samples = samples;
  acquisition.sample_rate = 40.0_MHz;
  return acquisition;
}

inline std::size_t shot_bytes(const Acquisition& acquisition, std::uint32_t transmit) {
  // Plain counting, which takes no memory.
  return (acquisition.elements() - (acquisition.pairs_once() ? transmit : 0)) * acquisition.bytes_per_a_scan();
}

inline std::byte pattern(std::uint64_t sequence, std::size_t transmit, std::size_t offset) {
  return static_cast<std::byte>((sequence * 31 + transmit * 17 + offset * 7 + 1) & 0xFF);
}

inline void fill(std::span<std::byte> place, std::uint64_t sequence, std::size_t transmit) {
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = pattern(sequence, transmit, i);
}

/// Bytes of the frame that are not what its sender wrote, or not zero where an element is dead. Row by row, in the order of
/// the conventions, without the layout.
inline std::size_t wrong_bytes(const FrameSlot& slot, const Acquisition& acquisition) {
  const std::byte* at = slot.samples.bytes_begin();
  std::size_t wrong = 0;
  const std::size_t n = acquisition.elements();
  for (std::size_t tx = 0; tx < acquisition.event_count(); ++tx) {
    const std::size_t receivers = acquisition.matrix == MatrixKind::full ? n : n - tx;
    const std::size_t element = acquisition.events.empty() ? tx : std::get<ElementEvent>(acquisition.events[tx].form).element;
    for (std::size_t i = 0; i < receivers * acquisition.bytes_per_a_scan(); ++i, ++at) {
      const std::byte expected = acquisition.probe.elements[element].dead ? std::byte{0} : pattern(slot.sequence, tx, i);
      if (*at != expected) ++wrong;
    }
  }
  return wrong;
}

inline Buffer make_buffer(std::size_t bytes) {
  return {new std::byte[bytes](), bytes, [](void* data) { delete[] static_cast<std::byte*>(data); }};
}

/// What the test and all engines of a pipeline share. With `by_hand`, frames stay in work until finish_next(), as on a GPU;
/// with `busy`, submit() itself lasts until let_go(), as on a CPU.
struct EngineControl {
  std::atomic<bool> by_hand{false};
  std::atomic<std::size_t> frames_at_once{SIZE_MAX};
  std::atomic<bool> busy{false};
  std::atomic<std::size_t> wrong{0};  ///< bytes, over all frames
  std::atomic<int> engines_made{0};
  std::atomic<int> engines_alive{0};
  std::atomic<std::size_t> engine_bytes{1000};
  std::atomic<bool> fail_equip{false};
  std::atomic<bool> takes_settings{true};  ///< retune() says so

  void hold(FrameSlot& slot, const Engine::Done& done) {
    {
      const std::lock_guard lock(mutex);
      held.emplace_back(&slot, done);
    }
    changed.notify_all();
  }
  /// Waits until `count` frames are held.
  [[nodiscard]] bool wait_held(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return held.size() >= count; });
  }
  /// Finishes the oldest held frame, on the caller's thread as a GPU engine would on one of its own.
  void finish_next(bool ok = true) {
    ASSERT_TRUE(wait_held(1));
    std::pair<FrameSlot*, Engine::Done> item;
    {
      const std::lock_guard lock(mutex);
      item = held.front();
      held.pop_front();
    }
    item.second(*item.first, ok);
  }
  void enter() {
    std::unique_lock lock(mutex);
    ++entered;
    changed.notify_all();
    changed.wait(lock, [&] { return let > 0; });
    --let;
  }
  [[nodiscard]] bool wait_entered(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return entered >= count; });
  }
  void let_go(int count) {
    {
      const std::lock_guard lock(mutex);
      let += count;
    }
    changed.notify_all();
  }
  void forget_held() {
    const std::lock_guard lock(mutex);
    held.clear();
  }

  std::mutex mutex;
  std::condition_variable changed;
  int entered = 0;
  int let = 0;
  std::deque<std::pair<FrameSlot*, Engine::Done>> held;
};

class FakeEngine final : public Engine {
 public:
  FakeEngine(std::shared_ptr<const ImagingSetup> setup, std::shared_ptr<EngineControl> control)
      : setup_(std::move(setup)), control_(std::move(control)) {
    ++control_->engines_made;
    ++control_->engines_alive;
  }
  ~FakeEngine() override {
    control_->forget_held();
    --control_->engines_alive;
  }
  [[nodiscard]] BackendKind backend() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] const ImagingSetup& setup() const noexcept override { return *setup_; }
  [[nodiscard]] std::string describe() const override { return "fake"; }
  [[nodiscard]] std::size_t frames_at_once() const noexcept override { return control_->frames_at_once; }
  void equip(FrameSlot& slot) override {
    if (control_->fail_equip) throw RuntimeFault("fake engine: no memory");
    slot.samples = make_buffer(setup_->acquisition.frame_bytes());
    slot.timings.reserve(1);
    slot.outputs.resize(1);
    slot.outputs[0].data = make_buffer(setup_->recipe.outputs.front().description.bytes());
  }
  void submit(FrameSlot& slot, const Done& done) noexcept override {
    control_->wrong += wrong_bytes(slot, setup_->acquisition);
    static_cast<float*>(slot.outputs[0].data.data())[0] = static_cast<float>(slot.sequence);
    slot.timings.clear();
    slot.timings.push_back({"fake", std::chrono::microseconds(5)});
    slot.clipped_samples = 1;
    slot.invalid_samples = 2;
    if (control_->by_hand) {
      control_->hold(slot, done);
    } else {
      if (control_->busy) control_->enter();
      done(slot, true);
    }
  }
  [[nodiscard]] bool retune(const ImagingSetup& /*wanted*/) override { return control_->takes_settings; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return control_->engine_bytes; }

 private:
  std::shared_ptr<const ImagingSetup> setup_;
  std::shared_ptr<EngineControl> control_;
};

inline EngineFactory fake_engines(const std::shared_ptr<EngineControl>& control) {
  return [control](std::shared_ptr<const ImagingSetup> setup, const BackendChoice&,
                   const EngineOptions&) -> std::unique_ptr<Engine> {
    return std::make_unique<FakeEngine>(std::move(setup), control);
  };
}

/// A setup with one output of one pixel.
inline std::shared_ptr<const ImagingSetup> bare_setup(const Acquisition& acquisition) {
  auto setup = std::make_shared<ImagingSetup>();
  setup->acquisition = acquisition;
  setup->gate = {0, acquisition.samples};
  setup->recipe.outputs.push_back({{"LL", OutputKind::envelope, Grid{}}});
  return setup;
}

/// Notes what comes, in memory that it reserved before.
class NotingSink final : public ImageSink {
 public:
  explicit NotingSink(std::size_t capacity = 100'000) { sequences.reserve(capacity); }
  void setup_changed(std::shared_ptr<const ImagingSetup> setup) override {
    const std::lock_guard lock(mutex);
    setups.push_back(std::move(setup));
  }
  void publish(const FinishedFrame& frame) noexcept override {
    {
      const std::lock_guard lock(mutex);
      sequences.push_back(frame.slot.sequence);
      if (!frame.counters.closes() || frame.counters.frames_published != sequences.size()) ++bad_counters;
      if (static_cast<const float*>(frame.slot.outputs[0].data.data())[0] != static_cast<float>(frame.slot.sequence))
        ++bad_images;
      if (setups.empty() || setups.back().get() != &frame.setup) ++bad_setups;
    }
    changed.notify_all();
  }
  [[nodiscard]] std::string describe() const override { return "noting sink"; }
  [[nodiscard]] bool wait_published(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return sequences.size() >= count; });
  }
  [[nodiscard]] std::vector<std::uint64_t> published() {
    const std::lock_guard lock(mutex);
    return sequences;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> sequences;
  std::vector<std::shared_ptr<const ImagingSetup>> setups;
  int bad_counters = 0, bad_images = 0, bad_setups = 0;
};

/// Asks for a place, writes the pattern, finishes. The verdict tells what became of it.
inline ShotVerdict send_shot(FrameIntake& intake, LaneId lane, std::uint64_t sequence, std::uint32_t transmit) {
  const ShotPlace place = intake.begin_shot(lane, {sequence, transmit, WallTime(0)}, shot_bytes(intake.acquisition(), transmit));
  if (place.verdict == ShotVerdict::accepted) {
    fill(place.place, sequence, transmit);
    intake.finish_shot(lane, place.ticket);
  }
  return place.verdict;
}

inline void send_frame(FrameIntake& intake, LaneId lane, std::uint64_t sequence) {
  for (std::uint32_t tx = 0; tx < intake.acquisition().elements(); ++tx) static_cast<void>(send_shot(intake, lane, sequence, tx));
}

/// A wake-up that a sending thread can wait for.
class Bell {
 public:
  void ring() {
    // Under the lock, so that who heard it may let the bell die.
    const std::lock_guard lock(mutex_);
    ++rings_;
    changed_.notify_all();
  }
  [[nodiscard]] std::function<void()> wake() {
    return [this] { ring(); };
  }
  /// Waits for a ring that was not yet waited for.
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    const bool rang = changed_.wait_for(lock, patience, [&] { return rings_ > heard_; });
    heard_ = rings_;
    return rang;
  }
  [[nodiscard]] int rings() {
    const std::lock_guard lock(mutex_);
    return rings_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
  int heard_ = 0;
};

inline std::uint64_t dropped(const CounterSnapshot& counters, DropReason reason) {
  return counters.frames_dropped[static_cast<std::size_t>(reason)];
}

}  // namespace echoform::test
