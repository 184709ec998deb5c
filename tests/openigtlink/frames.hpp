// Finished frames of two views, an image in a plane and a volume, without a pipeline: every pixel tells its place.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "pipeline/image_sink.hpp"
#include "pipeline/imaging_setup.hpp"

namespace echoform::openigtlink_frames {

inline Buffer make_buffer(std::size_t bytes) {
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return {memory, bytes, [](void* p) { std::free(p); }};
}

/// What a pixel of a display image at `place` of its array has, in the frame of `sequence`.
inline std::uint8_t pixel(std::size_t place, std::uint64_t sequence) {
  return static_cast<std::uint8_t>((7 * place + sequence) % 251);
}

struct Shape {
  Grid plane{{Metres(-0.010), Metres(0.010), 21}, {Metres(0.005), Metres(0.035), 16}, {Metres(0.004), Metres(0.004), 1}};
  Grid volume{{Metres(-0.004), Metres(0.002), 7}, {Metres(0.010), Metres(0.018), 5}, {Metres(-0.003), Metres(0.003), 4}};
};

class Frames {
 public:
  explicit Frames(const Shape& shape = {}) : setup_(std::make_shared<ImagingSetup>()) {
    for (const auto& [view, grid] : {std::pair{"LL", shape.plane}, std::pair{"TT", shape.volume}}) {
      for (const OutputKind kind : {OutputKind::envelope, OutputKind::display}) {
        setup_->recipe.outputs.push_back({{view, kind, grid}});
        slot_.outputs.push_back({make_buffer(setup_->recipe.outputs.back().description.bytes())});
      }
    }
    setup_->acquisition.probe = make_linear_probe(4, Metres(1e-3), Metres(0.9e-3), Hertz(5e6), Hertz(3e6));
    for (Element& element : setup_->acquisition.probe.elements) element.centre.x += Metres(2e-3);
    slot_.acquisition_time = WallTime(1'700'000'000'250'000'000);
    slot_.position = 42;
  }

  [[nodiscard]] std::shared_ptr<ImagingSetup> setup() const { return setup_; }
  [[nodiscard]] FrameSlot& slot() { return slot_; }

  /// Painted anew.
  [[nodiscard]] FinishedFrame frame(std::uint64_t sequence) {
    for (std::size_t k = 0; k < slot_.outputs.size(); ++k) {
      const OutputDescription& image = setup_->recipe.outputs[k].description;
      auto* const bytes = static_cast<std::uint8_t*>(slot_.outputs[k].data.data());
      auto* const reals = static_cast<float*>(slot_.outputs[k].data.data());
      for (std::size_t place = 0; place < image.grid.pixels(); ++place) {
        if (image.kind == OutputKind::display) {
          bytes[place] = pixel(place, sequence);
        } else {
          reals[place] = static_cast<float>(place) + 0.25F * static_cast<float>(sequence % 4);
        }
      }
    }
    return again(sequence);
  }
  /// Another frame with the pixels of the one before.
  [[nodiscard]] FinishedFrame again(std::uint64_t sequence) {
    slot_.sequence = sequence;
    CounterSnapshot counters;
    counters.frames_received = counters.frames_published = ++published_;
    return {slot_, *setup_, counters, WallTime(1'700'000'000'300'000'000), SteadyTime(9'000'000 * published_)};
  }

 private:
  std::shared_ptr<ImagingSetup> setup_;
  FrameSlot slot_;
  std::uint64_t published_ = 0;
};

}  // namespace echoform::openigtlink_frames
