// How fast tomography is: on the CPU back-projection against frozen plain loops, and frames of a live ring; what those of GPUs
// (tomography_gpu.hpp) measure too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"
#include "methods/tomography/section.hpp"
#include "pipeline/imaging_setup.hpp"
#include "stages/back_projection/back_projection.hpp"

namespace echoform::benchmarks {

/// Planes out of the middle of the volume of Wang and others (2013): 210 x 210 x 440 voxels, 0.14 mm apart, within a sphere of
/// radius 65 mm, an arc from pole to pole that turns about z; 20 MHz, from 17 us on, sound of 1540 m/s.
struct ProjectionCase {
  static constexpr std::size_t all_planes = 440;

  std::size_t rings = 64;  ///< detectors of the arc
  std::size_t views = 90;  ///< angles that it turns to
  std::size_t samples = 1022;
  std::size_t across = 210;      ///< voxels along x and along y
  std::size_t planes = 8;        ///< along z
  std::size_t plain_planes = 1;  ///< of these, the first ones, for the plain loops, which are slow
  std::size_t rounds = 5;
  std::size_t threads = 0;  ///< 0: all that this process may use
};

/// What the method projects back with. Throws InputError where nothing of the volume is within the samples.
[[nodiscard]] BackProjectionOptions projection_of(const ProjectionCase& test, TomographyAlgorithm algorithm);
/// Rows, `stride` apart, of which neighbouring samples are related as those of sounds are; zeros between them.
[[nodiscard]] std::vector<float> related_noise(std::size_t rows, std::size_t samples, std::size_t stride);

/// One algorithm. A pair is a voxel and a detector.
struct ProjectionFigure {
  std::string algorithm;    ///< as [tomography] has it
  double pairs = 0.0;       ///< of all planes of the case
  Spread seconds;           ///< of these, by the stage alone: from terms to the image
  Spread rate;              ///< pairs a second
  Spread whole_seconds;     ///< at this rate, for 440 planes: not measured
  Spread plain_rate;        ///< pairs a second, of the plain loop on as many threads
  Spread ratio;             ///< rate to plain_rate
  double difference = 0.0;  ///< relative L2, from the plain loop's voxels
  Turns turns;              ///< "stage" and "plain loop", pairs a second
};

struct ProjectionReport {
  std::string reference_flags;
  std::size_t threads = 1;
  std::vector<ProjectionFigure> figures;
};

/// Calls `progress` with the name of each measurement. Throws InputError where nothing of the volume is within the samples.
[[nodiscard]] ProjectionReport measure_projections(const ProjectionCase& test,
                                                   const std::function<void(const std::string&)>& progress);

/// A ring of detectors around a square in its plane, as examples/tomography_ring.toml has it: radius 40.5 mm, 40 MHz, pixels 0.1
/// mm apart, universal back-projection, a band of 0.2 to 8 MHz, signed values and their display.
struct LiveRingCase {
  std::size_t detectors = 256;
  std::size_t samples = 2030;  ///< int16
  std::size_t pixels = 256;    ///< along x and z
  std::size_t threads = 0;     ///< 0: all that this process may use
};

/// The setup of the case, for measure_frame(). Throws InputError for sizes that make no image.
[[nodiscard]] std::shared_ptr<const ImagingSetup> live_ring_setup(const LiveRingCase& test);

/// Rings of detectors on a sphere around a cube: radius 40 mm, 40 MHz, voxels 0.15 mm apart, signed values and their display.
struct LiveVolumeCase {
  std::size_t rings = 16;
  std::size_t of_a_ring = 16;
  std::size_t samples = 2048;  ///< int16
  std::size_t voxels = 128;    ///< along each axis

  [[nodiscard]] std::size_t detectors() const { return rings * of_a_ring; }
};

/// As live_ring_setup().
[[nodiscard]] std::shared_ptr<const ImagingSetup> live_volume_setup(const LiveVolumeCase& test, TomographyAlgorithm algorithm);

}  // namespace echoform::benchmarks
