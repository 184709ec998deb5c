// Finished frames without a pipeline: a bright spot at a known place over a dim floor.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/image_sink.hpp"

namespace echoform::synthetic {

inline Buffer make_buffer(std::size_t bytes) {
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  std::memset(memory, 0, bytes);
  return {memory, bytes, [](void* p) { std::free(p); }};
}

struct Shape {
  Grid grid{{Metres(-0.020), Metres(0.020), 41}, {Metres(0.005), Metres(0.035), 31}, {}};
  std::vector<std::string> views{"LL"};
};

class Stream {
 public:
  explicit Stream(const Shape& shape = {}) : plan_(make_plan(shape)) {
    for (std::size_t view = 0; view < shape.views.size(); ++view) {
      ImageOutput output;
      output.envelope = make_buffer(plan_->grid.pixels() * sizeof(float));
      output.display = make_buffer(plan_->grid.pixels());
      slot_.images.push_back(std::move(output));
    }
    slot_.timings[0] = {"analytic-signal", std::chrono::microseconds(1200)};
    slot_.timings[1] = {"beamform", std::chrono::microseconds(8300)};
    slot_.timing_count = 2;
    slot_.acquisition_time = WallTime(1'700'000'000'000'000'000);
    slot_.last_byte_time = SteadyTime(5'000'000);
  }

  [[nodiscard]] std::shared_ptr<const ImagingPlan> plan() const { return plan_; }
  [[nodiscard]] FrameSlot& slot() { return slot_; }

  /// Envelope: 1 at the pixel next to (x, z), falling as a Gaussian of width 1 mm to a floor of 1e-3. Display to match.
  void paint_spot(Metres x, Metres z) {
    const Grid& grid = plan_->grid;
    for (auto& image : slot_.images) {
      auto* envelope = static_cast<float*>(image.envelope.data());
      auto* display = static_cast<std::uint8_t*>(image.display.data());
      for (std::size_t i = 0; i < grid.pixels(); ++i) {
        const Point p = grid.at(i);
        const double r = std::hypot((p.x - x).value, (p.z - z).value) / 1e-3;
        const double value = std::max(1e-3, std::exp(-0.5 * r * r));
        envelope[i] = static_cast<float>(value);
        display[i] = static_cast<std::uint8_t>(std::lround(255.0 * std::max(0.0, 1.0 + 20.0 * std::log10(value) / 40.0)));
      }
    }
  }

  /// The frame of `sequence`, 4 ms after its last byte.
  [[nodiscard]] FinishedFrame frame(std::uint64_t sequence, SteadyTime now = SteadyTime(9'000'000),
                                    WallTime wall = WallTime(1'700'000'000'100'000'000)) {
    slot_.sequence = sequence;
    CounterSnapshot counters;
    counters.frames_published = ++published_;
    counters.frames_dropped[static_cast<std::size_t>(DropReason::incomplete)] = 2;
    counters.frames_received = counters.frames_published + 2;
    return {slot_, *plan_, counters, wall, now};
  }

 private:
  static std::shared_ptr<const ImagingPlan> make_plan(const Shape& shape) {
    auto plan = std::make_shared<ImagingPlan>();
    plan->grid = shape.grid;
    for (const auto& view : shape.views) plan->laws.push_back({view, nullptr, nullptr});
    return plan;
  }

  std::shared_ptr<const ImagingPlan> plan_;
  FrameSlot slot_;
  std::uint64_t published_ = 0;
};

}  // namespace echoform::synthetic
