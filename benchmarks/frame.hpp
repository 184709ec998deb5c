// How fast the engine images frames that are already in memory: every stage, no network.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "pipeline/engine.hpp"

namespace echoform::benchmarks {

struct StageFigure {
  std::string stage;
  Spread seconds;
};

struct FrameReport {
  std::size_t frame_bytes = 0;
  std::size_t engine_bytes = 0;
  Spread images_per_second;  ///< frame by frame
  std::vector<StageFigure> stages;
  Spread read_bytes_per_second;   ///< limit: reading the frame's samples once, all threads
  Turns turns;                    ///< "images" a second and "reads" of as many frames a second, in the order of measurement
  double beamform_seconds = 0.0;  ///< median of a frame's beamform stages, all views
};

/// Images one frame of random samples (int16 or as the setup says) `frames` times on `threads` threads after two that are
/// not counted.
[[nodiscard]] FrameReport measure_frame(const std::shared_ptr<const ImagingSetup>& setup, std::size_t threads,
                                        std::size_t frames);

/// Samples of a frame: uniform noise of 12-bit amplitudes, or -0.5 .. 0.5 for float32; the same in every run.
[[nodiscard]] std::vector<std::byte> noise_frame(const Acquisition& acquisition);

}  // namespace echoform::benchmarks
