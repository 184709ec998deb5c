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
  explicit Stream(const Shape& shape = {}) : setup_(make_setup(shape)) {
    for (const RecipeOutput& output : setup_->recipe.outputs) slot_.outputs.push_back({make_buffer(output.description.bytes())});
    slot_.timings = {{"analytic-signal", std::chrono::microseconds(1200)}, {"beamform", std::chrono::microseconds(8300)}};
    slot_.acquisition_time = WallTime(1'700'000'000'000'000'000);
    slot_.last_byte_time = SteadyTime(5'000'000);
  }

  [[nodiscard]] std::shared_ptr<const ImagingSetup> setup() const { return setup_; }
  [[nodiscard]] FrameSlot& slot() { return slot_; }

  /// Envelope: 1 at the pixel next to (x, z), falling as a Gaussian of width 1 mm to a floor of 1e-3. Display to match.
  void paint_spot(Metres x, Metres z) {
    for (std::size_t output = 0; output < slot_.outputs.size(); ++output) {
      const OutputDescription& description = setup_->recipe.outputs[output].description;
      const Grid& grid = description.grid;
      auto* envelope = static_cast<float*>(slot_.outputs[output].data.data());
      auto* display = static_cast<std::uint8_t*>(slot_.outputs[output].data.data());
      for (std::size_t i = 0; i < grid.pixels(); ++i) {
        const Point p = grid.at(i);
        const double r = std::hypot((p.x - x).value, (p.z - z).value) / 1e-3;
        const double value = std::max(1e-3, std::exp(-0.5 * r * r));
        if (description.kind == OutputKind::envelope) {
          envelope[i] = static_cast<float>(value);
        } else {
          display[i] = static_cast<std::uint8_t>(std::lround(255.0 * std::max(0.0, 1.0 + 20.0 * std::log10(value) / 40.0)));
        }
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
    return {slot_, *setup_, counters, wall, now};
  }

 private:
  static std::shared_ptr<const ImagingSetup> make_setup(const Shape& shape) {
    auto setup = std::make_shared<ImagingSetup>();
    for (const auto& view : shape.views) {
      setup->recipe.outputs.push_back({{view, OutputKind::envelope, shape.grid}});
      setup->recipe.outputs.push_back({{view, OutputKind::display, shape.grid}});
    }
    return setup;
  }

  std::shared_ptr<const ImagingSetup> setup_;
  FrameSlot slot_;
  std::uint64_t published_ = 0;
};

}  // namespace echoform::synthetic
