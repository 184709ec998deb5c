// How many frames a second an engine images with several in flight, from memory that is already filled: on a GPU transfers
// included, no network.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/frame.hpp"
#include "pipeline/engine.hpp"

namespace echoform::benchmarks {

struct RingReport {
  std::size_t frame_bytes = 0;
  std::size_t engine_bytes = 0;
  Spread images_per_second;         ///< by windows of a tenth of the frames
  Spread alone_seconds;             ///< of one frame with nothing else in flight, from submission to done
  std::vector<StageFigure> stages;  ///< as the engine times them, over the last frames
};

/// Images `frames` frames (at least 10) of random samples, `slots` in flight, after a quarter of them that are not counted.
/// RuntimeFault if the engine fails.
[[nodiscard]] RingReport measure_ring(const std::shared_ptr<const ImagingPlan>& plan, const BackendChoice& choice,
                                      std::size_t frames, std::size_t slots = 4);

/// Median times of the stages of one frame alone, on an engine that queues stage by stage (EngineOptions::eager): where the time
/// of a frame goes.
[[nodiscard]] std::vector<StageFigure> eager_stages(const std::shared_ptr<const ImagingPlan>& plan, const BackendChoice& choice,
                                                    std::size_t frames);

}  // namespace echoform::benchmarks
