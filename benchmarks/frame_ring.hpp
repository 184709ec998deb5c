// How many frames a second an engine images with several in flight, from memory that is already filled: on a GPU transfers
// included, no network.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/frame.hpp"
#include "benchmarks/turns.hpp"
#include "pipeline/engine.hpp"

namespace echoform::benchmarks {

/// An engine and its slots, filled with the same random samples.
class FrameRing {
 public:
  explicit FrameRing(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice, std::size_t slots = 4);
  ~FrameRing();
  FrameRing(const FrameRing&) = delete;
  FrameRing& operator=(const FrameRing&) = delete;

  /// Images a second of `frames` frames (at least one) with all slots in flight, after as many as there are slots that are not
  /// counted. Nothing is in flight when it returns. RuntimeFault if the engine fails.
  [[nodiscard]] double images_per_second(std::size_t frames);
  /// Seconds of one frame with nothing else in flight, from submission to done.
  [[nodiscard]] double alone();
  /// Times of the stages, as the engine measures them, over all calls of alone() so far.
  [[nodiscard]] std::vector<StageFigure> stages() const;
  [[nodiscard]] std::size_t engine_bytes() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

struct RingReport {
  std::size_t engine_bytes = 0;
  Spread images_per_second;         ///< by windows of a tenth of the frames
  Spread alone_seconds;             ///< of one frame with nothing else in flight, from submission to done
  std::vector<StageFigure> stages;  ///< as the engine times them, over the frames alone
  Turns turns;                      ///< "images" a second of a window, and what it is compared with, if anything is
};

/// Images `frames` frames (at least 10) in ten windows of a FrameRing, after one that is not counted, and 20 alone. `against`
/// takes turns with the windows. RuntimeFault if the engine fails.
[[nodiscard]] RingReport measure_ring(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice,
                                      std::size_t frames, const std::vector<Turn>& against = {});

/// Median times of the stages of one frame alone, on an engine that queues stage by stage (EngineOptions::eager): where the time
/// of a frame goes.
[[nodiscard]] std::vector<StageFigure> eager_stages(const std::shared_ptr<const ImagingSetup>& setup, const BackendChoice& choice,
                                                    std::size_t frames);

}  // namespace echoform::benchmarks
