// How fast the beamformer is: against two frozen plain loops, against itself with every sample in the first-level cache, with
// weights and without, over instruction sets and over threads, all in one run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "cpu/cpu_backend.hpp"
#include "methods/tfm/plan.hpp"

namespace echoform::benchmarks {

/// Random data on the geometry of a linear array, pitch 0.65 mm, 40 MHz, above a square of 75 mm x 75 mm of aluminium
/// (6300 m/s), or on that of `plan`, whose first view has the same legs on both sides. A lookup is a delay, a linear
/// interpolation of a complex sample and an addition, for one pair and pixel; only lookups within the A-scan are counted. Each
/// measurement runs for a quarter of a second after an image that is not counted.
struct TfmCase {
  std::size_t elements = 128;
  std::size_t samples = 4096;
  std::size_t pixels = 256;                   ///< along x and z
  std::size_t rounds = 5;                     ///< measurements of each, in turn
  std::size_t threads = 0;                    ///< 0: all that this process may use
  std::shared_ptr<const ImagingPlan> plan{};  ///< instead of elements, samples and pixels
  bool scaling = true;                        ///< also over 1, 2, 4, ... threads
  bool weighted = true;                       ///< also with weights that vary over the image (weighted_plan())
  std::size_t waves = 32;                     ///< also of so many plane waves, where there is no `plan`; 0: not
};

/// Some planes out of the middle of a volume below a matrix array: all of it would take the frozen loops minutes.
struct TfmVolumeCase {
  std::size_t elements = 8;  ///< along x and y
  std::size_t samples = 1024;
  std::size_t pixels = 128;  ///< of the volume along x, y and z
  std::size_t planes = 16;   ///< of the pixels along y, no more than there are
};

/// One way of summing, in lookups a second.
struct TfmFigure {
  std::string name;
  std::size_t threads = 1;
  Spread lookups_per_second;
};

/// Figures with weights: a Hann window over the elements and their directivity, so that every pair has another weight at
/// every pixel.
struct TfmWeighted {
  TfmFigure beamformer;  ///< best instruction set
  TfmFigure reference;   ///< the frozen pair-major loop with the same weights
  TfmFigure limit;       ///< the kernel with every window in the first-level cache
  Spread of_unweighted;  ///< beamformer to the one without weights
  Spread ratio;          ///< beamformer to reference
  Spread of_limit;
  double relative_difference = 0.0;  ///< L2, between the images of beamformer and reference
};

/// Figures of plane waves that all elements record: the cost of a frame of them compared with a frame of a full matrix.
struct TfmWaves {
  std::size_t waves = 0;
  double lookups = 0.0;  ///< a frame
  TfmFigure beamformer;  ///< best instruction set
  Spread ratio;          ///< beamformer to the frozen loop
  Spread of_elements;    ///< to the beamformer of single elements
};

/// Ratios are of measurements of the same round.
struct TfmReport {
  double lookups = 0.0;        ///< a frame
  TfmFigure reference;         ///< the frozen loop: pixel by pixel, rows without padding
  TfmFigure padded_reference;  ///< the frozen pair-major loop: padded rows, each read once for many pixels
  std::string reference_flags;
  std::vector<TfmFigure> beamformer;  ///< by instruction set, on all threads; best first
  std::vector<TfmFigure> scaling;     ///< best instruction set, over threads
  TfmFigure limit;                    ///< the best kernel with every window in the first-level cache
  Spread ratio;                       ///< best beamformer to reference
  Spread padded_ratio;                ///< best beamformer to padded_reference
  Spread of_limit;                    ///< best beamformer to limit
  double relative_difference = 0.0;   ///< L2, between the images of beamformer and reference
  double padded_difference = 0.0;     ///< the same with padded_reference
  std::optional<TfmWeighted> weighted;
  std::optional<TfmWaves> waves;
  Turns turns;  ///< everything on all threads, in the order of measurement
  std::size_t table_bytes = 0;
};

/// Beamformer and frozen loops on planes of a volume.
[[nodiscard]] TfmReport measure_tfm_volume(const TfmVolumeCase& volume, std::size_t rounds, std::size_t threads,
                                           const std::function<void(const std::string&)>& progress);

/// Calls `progress` with the name of each measurement.
[[nodiscard]] TfmReport measure_tfm(const TfmCase& test, const std::function<void(const std::string&)>& progress);

}  // namespace echoform::benchmarks
