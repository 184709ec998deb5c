// Beamforming from several positions of the probe: the sum of images, each of rows of its own with a law and elements of its own,
// on one grid.
//
//   image(p) = sum over parts of the image that "beamform" makes of the part's rows
//
// Input   as of the beamform stage (beamform.hpp); the rows of a part follow each other.
// Output  complex64 image [z, x] ([z, y, x]: rows = z * y). Images are added in the order of the parts, one at a time: the same
//         bits in every run on one backend.
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
  std::vector<BeamformPart> parts;  ///< at least one; all of one grid

  [[nodiscard]] friend bool operator==(const BeamformSumOptions&, const BeamformSumOptions&) = default;
};

/// The kind of the stage "beamform-sum", whose options are BeamformSumOptions. States what its parts state, and room for one
/// image more.
extern const StageKind beamform_sum_stage;

/// Throws InputError unless there are parts, all of one grid.
void validate(const BeamformSumOptions& options);

/// How a backend makes the stage of a part, and adds images.
struct BeamformSumParts {
  std::function<std::unique_ptr<Stage>(const BeamformOptions& options)> make;
  /// to[k] += from[k] for k below `count`, both on 8 bytes; queued as process() does.
  void (*add)(float* to, const float* from, std::size_t count, ExecutionQueue& queue) noexcept;
};
/// The backend must outlive the stage.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum(BeamformSumOptions options, Backend& backend, BeamformSumParts parts);

[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum_cpu(BeamformSumOptions options, Backend& backend);
/// Only builds with CUDA have this function.
[[nodiscard]] std::unique_ptr<Stage> make_beamform_sum_cuda(BeamformSumOptions options, Backend& backend);

}  // namespace echoform
