// How fast images of plane waves are formed that are compounded: of a batch of frames of a disk that turns, which the simulated
// source makes, with what the images say of its turning.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "benchmarks/stage_turns.hpp"
#include "pipeline/backend.hpp"

namespace echoform::benchmarks {

/// A linear array, pitch 0.3 mm, 5 MHz, 20 MHz, int16, above a disk of 10 mm radius in a square of 25 mm that turns by 0.4 of the
/// Nyquist velocity at its edge; plane waves from -8 to 8 degrees that all elements record, within every A-scan all pixels.
struct CompoundingCase {
  std::size_t elements = 128;
  std::size_t samples = 1152;  ///< of an A-scan
  std::size_t pixels = 512;    ///< along x and z
  std::size_t waves = 8;       ///< that are compounded
  std::size_t batch = 32;      ///< frames, each of so many waves, each with memory of its own
  std::size_t moments = 8;     ///< of the disk, frame after frame, over and over again in a batch: at least 2
  std::size_t scatterers = 6000;
  std::size_t rounds = 10;
  double accuracy = 1e-3;  ///< ImagingPlan::accuracy
  BackendKind backend = BackendKind::cpu;
  std::size_t threads = 0;  ///< of the CPU; 0: all that this process may use
};

struct CompoundingReport {
  double points = 0.0;       ///< receiving elements x pixels x waves x frames of a batch
  StageTime beamforming;     ///< of a batch, from analytic signals that lie in the backend's memory to complex images
  StageTime imaging;         ///< of a batch, from received samples that lie there to envelopes
  Spread points_per_second;  ///< of the beamforming
  Spread images_per_second;  ///< from received samples to envelopes
  double contrast_db = 0.0;  ///< mean power of the images within the disk beside that around it
  /// Axial velocities by the turn from frame to frame within the disk, by power, against those of the disk: the slope of the
  /// line through 0 that fits them, and their root mean square error as a part of the Nyquist velocity. The phase of an echo
  /// that an element receives at an angle b from z changes by (1 + cos b) / 2 of the change straight above. So over the
  /// whole aperture the slope is less than 1.
  double velocity_slope = 0.0;
  double velocity_error = 0.0;
  std::size_t stage_bytes = 0;  ///< tables and scratch of the beamformer
};

/// RuntimeFault if the backend is CUDA and there is no GPU.
[[nodiscard]] CompoundingReport measure_compounding(const CompoundingCase& test, const Progress& progress);

}  // namespace echoform::benchmarks
