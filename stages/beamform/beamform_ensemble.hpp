// Beamforming of ensembles: each of several repeated soundings by the same events becomes an image. The images have one grid
// and one law, and share its tables.
//
//   image n of N = the image that "beamform" makes of rows n R ... n R + R - 1, R the rows of options.pairs
//
// Input   as for the beamform stage (beamform.hpp), N R rows, in single precision.
// Output  complex64 [z * N, x] ([z, y, x]: rows z * y * N): row l N + n is row l of image n, so that rows of pixels are the
//         lines whose ensembles the stages of flow take (stages/wall_filter/).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "pipeline/stage.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform {

struct BeamformEnsembleOptions {
  BeamformOptions options;  ///< of one image; rows_behind is 0
  std::size_t ensemble = 1;

  [[nodiscard]] friend bool operator==(const BeamformEnsembleOptions&, const BeamformEnsembleOptions&) = default;
};

/// The kind of the stage "beamform-ensemble", whose options are BeamformEnsembleOptions. It states the memory of one
/// beamform stage and of one image.
extern const StageKind beamform_ensemble_stage;

/// Throws InputError unless there is at least one image, and rows_behind is 0.
void validate(const BeamformEnsembleOptions& options);

/// Copies the rows of an image to their places among the rows of other images. Sizes are in floats.
struct ImageRows {
  const float* from = nullptr;  ///< rows follow each other without gaps
  float* to = nullptr;
  std::size_t count = 0;     ///< of rows
  std::size_t columns = 0;   ///< of a row
  std::size_t distance = 0;  ///< distance of rows of `to`
};

/// How a backend makes the stage of an image and how it copies rows. `copy` queues its work as process() does.
struct BeamformEnsembleParts {
  std::function<std::unique_ptr<Stage>(const BeamformOptions& options)> make;
  void (*copy)(const ImageRows& rows, ExecutionQueue& queue) noexcept;
};
/// The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_ensemble(BeamformEnsembleOptions options, Backend& backend,
                                                            BeamformEnsembleParts parts);

[[nodiscard]] std::unique_ptr<Stage> make_beamform_ensemble_cpu(BeamformEnsembleOptions options, Backend& backend);
/// Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_ensemble_cuda(BeamformEnsembleOptions options, Backend& backend);

}  // namespace echoform
