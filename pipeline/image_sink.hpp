// Where finished images go: publishers, the web viewer, recorders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/counters.hpp"
#include "pipeline/frame_slot.hpp"
#include "pipeline/imaging_plan.hpp"

namespace echoform {

/// A finished frame, valid during the call of publish() only.
struct FinishedFrame {
  const FrameSlot& slot;
  const ImagingPlan& plan;
  CounterSnapshot counters;
  WallTime publish_time{0};
  SteadyTime now{0};
};

class ImageSink {
 public:
  virtual ~ImageSink() = default;
  /// Called when a stream opens or its plan changes, before the first frame of it.
  virtual void plan_changed(std::shared_ptr<const ImagingPlan> plan) = 0;
  /// Hands the images on, or copies what it keeps. Never waits for a peer.
  virtual void publish(const FinishedFrame& frame) noexcept = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace echoform
