// Beamforming from several positions of the probe: the sum of images on one grid. Each image has its own rows, law and
// elements.
//
//   image(p) = sum over parts of the image that "beamform" makes of the part's rows
//
// Input   as for the beamform stage (beamform.hpp); the rows of a part follow each other.
// Output  complex64 image [z, x] ([z, y, x]: rows = z * y). Images are added in the order of the parts, one at a time, so that
//         the bits are the same in every run on one backend.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "pipeline/stage.hpp"
#include "stages/beamform/beamform_options.hpp"

namespace echoform {

struct BeamformPart {
  std::size_t first_row = 0;  ///< of the input: row 0 of options.pairs
  BeamformOptions options;

  [[nodiscard]] friend bool operator==(const BeamformPart&, const BeamformPart&) = default;
};

struct BeamformSumOptions {
  std::vector<BeamformPart> parts;  ///< at least one; all have the same grid

  [[nodiscard]] friend bool operator==(const BeamformSumOptions&, const BeamformSumOptions&) = default;
};

/// The kind of the stage "beamform-sum", whose options are BeamformSumOptions. It states the memory of its parts and of one
/// more image.
extern const StageKind beamform_sum_stage;

/// Throws InputError unless there are parts and all have the same grid.
void validate(const BeamformSumOptions& options);

/// How a backend makes the stage of a part and how it adds images.
struct BeamformSumParts {
  std::function<std::unique_ptr<Stage>(const BeamformOptions& options)> make;
  /// Computes to[k] += from[k] for k below `count`. Both are aligned to 8 bytes. The work is queued as that of process().
  void (*add)(float* to, const float* from, std::size_t count, ExecutionQueue& queue) noexcept;
};
/// The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum(BeamformSumOptions options, Backend& backend, BeamformSumParts parts);

[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum_cpu(BeamformSumOptions options, Backend& backend);
/// Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum_cuda(BeamformSumOptions options, Backend& backend);

}  // namespace echoform
